// One pop and one push a round, over N nodes that wait. Run: queue_bench --benchmark_filter=queue_
//
// The nodes lie 256 bytes apart, as in frames, and are queued in shuffled order: beyond the caches each pop
// meets memory that it has not seen for N rounds.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include <bide/queue/run_queue.hpp>
#include <bide/queue/ticket_queue.hpp>
#include <bide/tests/random.hpp>

namespace {

using bide::Aging;
using bide::Priority;
using bide::QueueNode;
using bide::RunQueue;
using bide::Urgency;
using Time = std::chrono::nanoseconds;

struct alignas(64) Frame : QueueNode {
  Urgency moving;
  std::uint64_t uses = 0;
  unsigned char rest[256 - 64] = {};
};
static_assert(sizeof(Frame) == 256);

class Frames {
 public:
  explicit Frames(std::size_t count) : frames_(new Frame[count]), order_(count) {
    for (std::size_t i = 0; i != count; ++i) order_[i] = i;
    bide::test::Random random(1);
    for (std::size_t i = count; i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
  }
  std::size_t size() const { return order_.size(); }
  Frame& operator[](std::size_t i) { return frames_[order_[i]]; }

 private:
  std::unique_ptr<Frame[]> frames_;
  std::vector<std::size_t> order_;
};

Frames& frames(std::size_t count) {
  static std::unique_ptr<Frames> last;
  last = std::make_unique<Frames>(count);
  return *last;
}

std::size_t count_of(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)); }

void queue_ring_pop_push(benchmark::State& state) {
  Frames& nodes = frames(count_of(state));
  RunQueue queue;
  for (std::size_t i = 0; i != nodes.size(); ++i) queue.push(nodes[i]);
  for (auto _ : state) {
    auto* const frame = static_cast<Frame*>(queue.pop(Time(0)));
    ++frame->uses;
    queue.push(*frame);
  }
  state.SetItemsProcessed(state.iterations());
}

/// The rejected structure: one heap of (class, sequence) with the node's address.
void queue_rejected_binary_heap(benchmark::State& state) {
  struct Entry {
    std::uint64_t key;  // class above sequence
    Frame* frame;
    bool operator<(const Entry& other) const { return key > other.key; }
  };
  Frames& nodes = frames(count_of(state));
  std::priority_queue<Entry> queue;
  std::uint64_t sequence = 0;
  for (std::size_t i = 0; i != nodes.size(); ++i) queue.push({sequence++, &nodes[i]});
  for (auto _ : state) {
    Frame* const frame = queue.top().frame;
    queue.pop();
    ++frame->uses;
    frame->sequence = sequence;
    queue.push({sequence++, frame});
  }
  state.SetItemsProcessed(state.iterations());
}

void queue_four_classes(benchmark::State& state) {
  Frames& nodes = frames(count_of(state));
  RunQueue queue;
  std::size_t next = 0;
  for (std::size_t i = 0; i != nodes.size(); ++i) {
    nodes[i].priority = static_cast<Priority>(next++ % 4);
    queue.push(nodes[i]);
  }
  for (auto _ : state) {
    auto* const frame = static_cast<Frame*>(queue.pop(Time(0)));
    ++frame->uses;
    frame->priority = static_cast<Priority>(next++ % 4);
    queue.push(*frame);
  }
  state.SetItemsProcessed(state.iterations());
}

/// Every node has a deadline, within a window that all N fit into.
void queue_deadline(benchmark::State& state) {
  Frames& nodes = frames(count_of(state));
  RunQueue queue;
  bide::test::Random random(2);
  Time now(0);
  const auto next_due = [&] {
    return now + Time(static_cast<std::int64_t>(random.below(nodes.size() * 2'000)) + 1'000'000'000);
  };
  for (std::size_t i = 0; i != nodes.size(); ++i) {
    Frame& frame = nodes[i];
    frame.moving.latest_start = next_due();
    frame.urgency = &frame.moving;
    queue.push(frame);
  }
  for (auto _ : state) {
    now += Time(1'000);
    auto* const frame = static_cast<Frame*>(queue.pop(now));
    ++frame->uses;
    frame->moving.latest_start = next_due();
    queue.push(*frame);
  }
  state.SetItemsProcessed(state.iterations());
}

/// What a job scheduler asks: four classes, half of the nodes with deadlines, urgency and aging on.
void queue_decisions(benchmark::State& state) {
  Frames& nodes = frames(count_of(state));
  RunQueue queue({.aging = Aging::on});
  bide::test::Random random(3);
  Time now(0);
  std::size_t next = 0;
  const auto push = [&](Frame& frame) {
    frame.priority = static_cast<Priority>(next % 4);
    frame.moving.waiting_since = now;
    frame.moving.latest_start = next / 4 % 2 == 0
                                    ? now + Time(static_cast<std::int64_t>(random.below(600'000'000'000)))
                                    : Urgency::none;
    frame.moving.horizon = std::chrono::seconds(5 + static_cast<std::int64_t>(next % 100));
    frame.urgency = &frame.moving;
    ++next;
    queue.push(frame);
  };
  for (std::size_t i = 0; i != nodes.size(); ++i) push(nodes[i]);
  for (auto _ : state) {
    now += Time(1'000'000);
    auto* const frame = static_cast<Frame*>(queue.pop(now));
    ++frame->uses;
    push(*frame);
  }
  state.SetItemsProcessed(state.iterations());
}

void queue_promotion(benchmark::State& state) {
  Frames& nodes = frames(count_of(state));
  RunQueue queue({.promote_every = 4});
  std::size_t next = 0;
  for (std::size_t i = 0; i != nodes.size(); ++i) {
    nodes[i].priority = static_cast<Priority>(next++ % 4);
    queue.push(nodes[i]);
  }
  for (auto _ : state) {
    auto* const frame = static_cast<Frame*>(queue.pop(Time(0)));
    ++frame->uses;
    frame->priority = static_cast<Priority>(next++ % 4);
    queue.push(*frame);
  }
  state.SetItemsProcessed(state.iterations());
}

void queue_tickets(benchmark::State& state) {
  const std::size_t count = count_of(state);
  bide::TicketQueue queue({.capacity = count});
  for (std::size_t i = 0; i != count; ++i) queue.push(i, static_cast<Priority>(i % 4));
  std::size_t next = 0;
  for (auto _ : state) {
    const auto ticket = queue.pop();
    queue.push(ticket->id, static_cast<Priority>(next++ % 4));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(queue_ring_pop_push)->Arg(1)->Arg(1000)->Arg(100000);
BENCHMARK(queue_rejected_binary_heap)->Arg(1)->Arg(1000)->Arg(100000);
BENCHMARK(queue_four_classes)->Arg(4)->Arg(1000)->Arg(100000);
BENCHMARK(queue_deadline)->Arg(1)->Arg(1000)->Arg(100000);
BENCHMARK(queue_decisions)->Arg(8)->Arg(1000)->Arg(100000);
BENCHMARK(queue_promotion)->Arg(4)->Arg(1000)->Arg(100000);
BENCHMARK(queue_tickets)->Arg(256)->Arg(100000);

}  // namespace
