// Asio's posts in four classes: an executor whose queue is a heap of (class, sequence), as its documentation proposes.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include <asio.hpp>

#include <bide/bench/allocations.hpp>

namespace {

using asio::io_context;

class ClassQueue {
 public:
  template <class Function>
  void push(unsigned priority, Function function) {
    queue_.push(Entry{priority, sequence_++, std::move(function)});
  }
  bool run_one() {
    if (queue_.empty()) return false;
    const std::function<void()> function = std::move(const_cast<Entry&>(queue_.top()).function);
    queue_.pop();
    function();
    return true;
  }

 private:
  struct Entry {
    unsigned priority;
    std::uint64_t sequence;
    std::function<void()> function;
    bool operator<(const Entry& other) const {
      return priority != other.priority ? priority < other.priority : sequence > other.sequence;
    }
  };
  std::priority_queue<Entry> queue_;
  std::uint64_t sequence_ = 0;
};

struct Repost {
  io_context& context;
  ClassQueue& queue;
  std::int64_t& left;
  unsigned priority;

  void operator()() const {
    if (left == 0) return;
    --left;
    const Repost again{context, queue, left, (priority + 1) % 4};
    asio::post(context, [again] { again.queue.push(again.priority, again); });
  }
};

void C_post_4_classes(benchmark::State& state) {
  constexpr std::int64_t depth = 1000;
  constexpr std::int64_t posts = depth * 100;
  const bide::bench::CountedAllocations allocations(state);
  while (state.KeepRunningBatch(posts)) {
    io_context context(1);
    ClassQueue queue;
    std::int64_t left = posts;
    for (unsigned i = 0; i < depth; ++i) queue.push(i % 4, Repost{context, queue, left, i % 4});
    do {  // what was posted goes into the queue before the next of it runs
      context.poll();
      context.restart();
    } while (queue.run_one());
  }
}

BENCHMARK(C_post_4_classes);

}  // namespace
