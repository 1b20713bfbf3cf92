#include <bide/tests/counted_allocations.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace bide::test::allocations {

std::uint64_t count = 0;
std::int64_t alive = 0;
std::uint64_t fails_from = 0;
std::uint64_t fails_last = 0;

}  // namespace bide::test::allocations

namespace {

using namespace bide::test;

void* allocate(std::size_t bytes) noexcept {
  const std::uint64_t number = ++allocations::count;
  const bool fails =
      allocations::fails_from != 0 && number >= allocations::fails_from && number <= allocations::fails_last;
  void* const memory = fails ? nullptr : std::malloc(bytes);
  if (memory != nullptr) ++allocations::alive;
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) --allocations::alive;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const memory = allocate(bytes); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
