#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include <bide/executor/executor.hpp>

#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::result_of;
using bide::test::virtual_time;

// Each test works on the pool of an OS thread of its own.
template <class F>
void with_own_pool(F function) {
  std::thread(function).join();
}

TEST_CASE("FramePool: a block comes back for the next frame of its class") {
  bool reused = false;
  std::size_t kept_after_release = 0;
  std::size_t kept_after_reuse = 1;
  with_own_pool([&] {
    void* const first = frame_pool.allocate(100);
    frame_pool.limit_kept_bytes(1 << 20);  // with AddressSanitizer it is zero
    frame_pool.release(first, 100);
    kept_after_release = frame_pool.kept_bytes();
    void* const second = frame_pool.allocate(97);
    reused = first == second;
    kept_after_reuse = frame_pool.kept_bytes();
    frame_pool.release(second, 97);
  });
  CHECK(reused);
  CHECK(kept_after_release == 104);
  CHECK(kept_after_reuse == 0);
}

TEST_CASE("FramePool: every size up to above the largest class can be written to its end") {
  with_own_pool([] {
    std::vector<void*> blocks;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t bytes = 1; bytes <= FramePool::largest_bytes + 200; ++bytes) {
        blocks.push_back(frame_pool.allocate(bytes));
        std::memset(blocks.back(), 0xa5, bytes);
      }
      for (std::size_t bytes = 1; bytes <= FramePool::largest_bytes + 200; ++bytes) {
        frame_pool.release(blocks[bytes - 1], bytes);
      }
      blocks.clear();
    }
  });
}

TEST_CASE("FramePool: keeps no more than its limit, and gives back what a lower one excludes") {
  std::size_t most = 0;
  std::size_t after_lower = 0;
  std::size_t after_zero = 1;
  with_own_pool([&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(frame_pool.allocate(168));
    frame_pool.limit_kept_bytes(16'800);
    for (void* block : blocks) {
      frame_pool.release(block, 168);
      most = std::max(most, frame_pool.kept_bytes());
    }
    frame_pool.limit_kept_bytes(5'000);
    after_lower = frame_pool.kept_bytes();
    frame_pool.limit_kept_bytes(0);
    after_zero = frame_pool.kept_bytes();
  });
  CHECK(most == 16'800);
  CHECK(after_lower <= 5'000);
  CHECK(after_lower > 5'000 - 168);
  CHECK(after_zero == 0);
}

TEST_CASE("FramePool: a limit set before the first frame holds") {
  std::size_t kept = 0;
  with_own_pool([&] {
    frame_pool.limit_kept_bytes(100);
    void* const first = frame_pool.allocate(64);
    void* const second = frame_pool.allocate(64);
    frame_pool.release(first, 64);
    frame_pool.release(second, 64);
    kept = frame_pool.kept_bytes();
  });
  CHECK(kept == 72);
}

TEST_CASE("FramePool: large frames are not kept") {
  std::size_t kept = 1;
  with_own_pool([&] {
    void* const small = frame_pool.allocate(16);
    frame_pool.limit_kept_bytes(1 << 20);
    void* const large = frame_pool.allocate(FramePool::largest_bytes + 1);
    frame_pool.release(large, FramePool::largest_bytes + 1);
    kept = frame_pool.kept_bytes();
    frame_pool.release(small, 16);
  });
  CHECK(kept == 0);
}

TEST_CASE("FramePool: a pool gets blocks of another OS thread's, and its thread ends without a leak") {
  std::vector<void*> blocks;
  with_own_pool([&] {
    for (int i = 0; i < 100; ++i) blocks.push_back(frame_pool.allocate(64));
  });
  with_own_pool([&] {
    for (void* block : blocks) frame_pool.release(block, 64);
  });
}

template <std::size_t bytes>
Task<int> with_a_large_frame(int depth) {
  unsigned char large[bytes];
  std::memset(large, depth + 1, bytes);
  co_await Sleep(1ms);
  int sum = large[0] + large[bytes - 1];
  if (depth > 0) sum += co_await with_a_large_frame<bytes>(depth - 1);
  co_return sum + large[bytes / 2];
}

TEST_CASE("FramePool: serves frames of all sizes") {
  CHECK(result_of(with_a_large_frame<16>(3)) == 30);
  CHECK(result_of(with_a_large_frame<500>(3)) == 30);
  CHECK(result_of(with_a_large_frame<900>(3)) == 30);
  CHECK(result_of(with_a_large_frame<5'000>(3)) == 30);
  CHECK(result_of(with_a_large_frame<1'000'000>(3)) == 30);
}

}  // namespace
