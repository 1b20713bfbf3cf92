#include <bide/executor/io/registered_memory.hpp>

#include <bide/executor/io/choose_driver.hpp>

namespace bide {

RegisteredMemory::RegisteredMemory(Executor& executor, std::span<std::byte> memory)
    : memory_(memory), driver_(driver_of(executor).life()), effective_((*driver_)->register_memory(memory)) {}

RegisteredMemory::~RegisteredMemory() {
  if (effective_ && *driver_ != nullptr) (*driver_)->unregister_memory(memory_);
}

}  // namespace bide
