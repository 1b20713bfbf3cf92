#include "allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// Not atomic: a count that is short by one in a thousand hurts less than a locked instruction in each allocation.
std::uint64_t count = 0;

void* counted(void* memory) {
  ++count;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(std::malloc(bytes)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto boundary = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(boundary, (bytes + boundary - 1) / boundary * boundary));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace bide::bench {

std::uint64_t allocation_count() { return count; }

}  // namespace bide::bench
