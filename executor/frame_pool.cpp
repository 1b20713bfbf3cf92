#include <bide/executor/frame_pool.hpp>

namespace bide {

namespace {

#if defined(__SANITIZE_ADDRESS__)  // g++
#define BIDE_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // clang
#define BIDE_ADDRESS_SANITIZER
#endif
#endif

#ifdef BIDE_ADDRESS_SANITIZER
constexpr std::size_t default_limit_bytes = 0;
#else
constexpr std::size_t default_limit_bytes = std::size_t{256} << 20U;
#endif

// A thread_local with a destructor costs a check at each access; the pool itself is plain data, and this
// object, touched once, empties it when the OS thread ends.
struct EmptyAtThreadEnd {
  ~EmptyAtThreadEnd() { frame_pool.limit_kept_bytes(0); }
};

}  // namespace

void FramePool::get_ready() noexcept {
  if (ready_) return;
  thread_local EmptyAtThreadEnd empty_at_thread_end;
  static_cast<void>(empty_at_thread_end);
  ready_ = true;
  limit_bytes_ = default_limit_bytes;
}

void* FramePool::allocate_fresh(std::size_t index) {
  get_ready();
  return ::operator new(block_bytes(index));
}

void* FramePool::allocate_large(std::size_t bytes) { return ::operator new(bytes); }

void FramePool::give_back(void* memory) noexcept { ::operator delete(memory); }

void FramePool::limit_kept_bytes(std::size_t bytes) noexcept {
  get_ready();
  limit_bytes_ = bytes;
  for (std::size_t index = class_count; index-- > 0;) {
    while (kept_bytes_ > limit_bytes_ && free_[index] != nullptr) {
      Block* block = free_[index];
      free_[index] = block->next;
      kept_bytes_ -= block_bytes(index);
      ::operator delete(block);
    }
  }
}

}  // namespace bide
