#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <utility>
#include <vector>

#include <bide/queue/run_queue.hpp>
#include <bide/tests/random.hpp>
#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using bide::Lane;
using bide::Priority;
using bide::QueueNode;
using bide::RunQueue;
using bide::Urgency;

namespace {

constexpr auto low = Priority::low;
constexpr auto normal = Priority::normal;
constexpr auto high = Priority::high;
constexpr auto critical = Priority::critical;

struct TwoMoreBytes : QueueNode {
  std::uint8_t state = 0;
  std::uint8_t kind = 0;
};
static_assert(sizeof(QueueNode) == 24 && sizeof(TwoMoreBytes) == 24);

using Nodes = std::deque<QueueNode>;

std::vector<std::uint64_t> drain(RunQueue& queue) {
  std::vector<std::uint64_t> sequences;
  while (QueueNode* const node = queue.pop(0s)) sequences.push_back(node->sequence);
  return sequences;
}

/// Whether `act` ends the process, tried in a child.
template <class Act>
bool aborts(Act act) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // the test framework catches it
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
    act();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace

TEST_CASE("RunQueue: an empty queue gives nothing") {
  RunQueue queue;
  CHECK(queue.pop(0s) == nullptr);
  CHECK(queue.peek(0s) == nullptr);
  CHECK(queue.pop_any() == nullptr);
  CHECK(queue.size() == 0);
  CHECK(queue.next_sequence() == 0);
}

TEST_CASE("RunQueue: a node says where it is") {
  RunQueue queue;
  Urgency due{.latest_start = 5s};
  QueueNode plain;
  QueueNode pressing(normal, &due);
  queue.push(plain);
  queue.push(pressing);
  CHECK(plain.lane == Lane::fifo);
  CHECK(pressing.lane == Lane::on_time);
  queue.clear();
  CHECK(!plain.queued());
  CHECK(!pressing.queued());
  CHECK(queue.empty());
}

TEST_CASE("RunQueue: a re-ranked node keeps its place among its new equals") {
  RunQueue queue;
  Nodes nodes;
  for (const Priority priority : {low, normal, high, normal, low, high})
    queue.push(nodes.emplace_back(priority));
  queue.rerank(nodes[1], high, nullptr);
  CHECK(nodes[1].lane == Lane::late);
  queue.rerank(nodes[4], normal, nullptr);
  CHECK(nodes[4].lane == Lane::fifo);
  queue.rerank(nodes[5], critical, nullptr);
  queue.rerank(nodes[2], normal, nullptr);
  CHECK(drain(queue) == std::vector<std::uint64_t>{5, 1, 2, 3, 4, 0});
}

TEST_CASE("RunQueue: a node put in place goes where its sequence says") {
  RunQueue queue;
  Nodes nodes(4);
  nodes[0].sequence = 7;
  nodes[1].sequence = 9;
  nodes[2].sequence = 8;
  nodes[3].sequence = 1;
  for (QueueNode& node : nodes) queue.push_in_place(node);
  CHECK(queue.size() == 4);
  REQUIRE(queue.pop(0s) == &nodes[3]);
  REQUIRE(queue.pop(0s) == &nodes[0]);
  queue.push_in_place(nodes[0]);  // put back
  CHECK(drain(queue) == std::vector<std::uint64_t>{7, 8, 9});
}

TEST_CASE("RunQueue: what goes next is told with what goes") {
  RunQueue queue({.aging = bide::Aging::on});
  Urgency fresh{.waiting_since = 1000s};
  Urgency aged{};                                                       // 800 points of it
  Urgency due{.latest_start = 1000s + 4110ms, .waiting_since = 1000s};  // 890 points of it
  QueueNode first(high, &fresh);
  QueueNode pressing(low, &due);
  QueueNode waiting(normal, &aged);
  for (QueueNode* node : {&first, &pressing, &waiting}) queue.push(*node);
  RunQueue::Popped popped = queue.pop_with_next(1000s);
  CHECK(popped.node == &first);
  CHECK(popped.next == &waiting);  // both have 900 points
  popped = queue.pop_with_next(1000s);
  CHECK(popped.node == &waiting);
  CHECK(popped.next == &pressing);
  popped = queue.pop_with_next(1000s);
  CHECK(popped.node == &pressing);
  CHECK(popped.next == nullptr);
  CHECK(queue.pop_with_next(1000s).node == nullptr);
}

TEST_CASE("RunQueue: deadlines out of order go by latest start") {
  RunQueue queue;
  Urgency times[] = {{.latest_start = 3s}, {.latest_start = 5s}, {.latest_start = 4s}, {.latest_start = 5s}};
  Nodes nodes;
  for (Urgency& due : times) queue.push(nodes.emplace_back(normal, &due));
  CHECK(nodes[1].lane == Lane::on_time);
  CHECK(nodes[2].lane == Lane::deadline);
  CHECK(nodes[3].lane == Lane::on_time);
  CHECK(queue.size() == 4);
  queue.remove(nodes[0]);
  CHECK(drain(queue) == std::vector<std::uint64_t>{2, 1, 3});
}

TEST_CASE("RunQueue: re-ranking back restores the order") {
  RunQueue queue;
  Nodes nodes;
  for (int i = 0; i < 5; ++i) queue.push(nodes.emplace_back(low));
  Urgency due{.latest_start = 1s};
  queue.rerank(nodes[2], critical, &due);
  CHECK(queue.peek(0s) == &nodes[2]);
  queue.rerank(nodes[2], low, nullptr);
  CHECK(drain(queue) == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("RunQueue: re-ranking a node that is not queued sets its values") {
  RunQueue queue;
  QueueNode node(low);
  node.position = 77;
  queue.rerank(node, high, nullptr);
  CHECK(node.priority == high);
  CHECK(node.position == 77);
  CHECK(queue.empty());
}

TEST_CASE("RunQueue: nodes may share an urgency") {
  RunQueue queue({.promote_every = 1});
  Urgency shared{.latest_start = 100s, .horizon = 5s};
  Nodes nodes;
  for (int i = 0; i < 6; ++i) queue.push(nodes.emplace_back(low, &shared));
  queue.remove(nodes[3]);
  CHECK(drain(queue) == std::vector<std::uint64_t>{0, 1, 2, 4, 5});
}

TEST_CASE("RunQueue: promotion raises a node with a deadline too") {
  RunQueue queue({.promote_every = 1});
  Urgency far{.latest_start = 1000s, .horizon = 5s};
  QueueNode oldest(low, &far);
  QueueNode younger(low);
  QueueNode flood(high);
  queue.push(oldest);
  queue.push(younger);
  queue.push(flood);
  CHECK(queue.pop(0s) == &flood);
  CHECK(oldest.priority == normal);
  CHECK(younger.priority == low);
  CHECK(queue.pop(0s) == &oldest);
  CHECK(younger.priority == normal);
}

TEST_CASE("RunQueue: nodes leave from any place and the rest keep their order") {
  bide::test::Random random(3);
  for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 1000U}) {
    RunQueue queue;
    Nodes nodes;
    for (std::size_t i = 0; i < count; ++i) queue.push(nodes.emplace_back());
    std::vector<std::uint64_t> left;
    for (QueueNode& node : nodes) {
      if (random.below(2) == 0)
        queue.remove(node);
      else
        left.push_back(node.sequence);
    }
    CHECK(queue.size() == left.size());
    CHECK(drain(queue) == left);
  }
}

TEST_CASE("RunQueue: holes in a ring are closed instead of growing it") {
  bide::NodeRing ring;
  Nodes nodes;
  QueueNode& first = nodes.emplace_back();
  ring.push_back(first);
  for (int i = 0; i < 1000; ++i) {
    QueueNode& passing = nodes.emplace_back();
    ring.push_back(passing);
    ring.push_back(nodes.emplace_back());
    ring.remove(passing);
    if (i % 2 == 1) ring.remove(nodes.back());
    if (i >= 4) ring.remove(nodes[nodes.size() - 9]);
  }
  CHECK(ring.front() == &first);
  CHECK(ring.capacity() == 16);
}

TEST_CASE("RunQueue: a reserved ring does not grow") {
  bide::NodeRing ring;
  ring.reserve(100);
  CHECK(ring.capacity() == 128);
  Nodes nodes;
  for (int i = 0; i < 128; ++i) ring.push_back(nodes.emplace_back());
  CHECK(ring.capacity() == 128);
  for (QueueNode& node : nodes) CHECK(ring.pop_front() == &node);
  CHECK(ring.empty());
}

TEST_CASE("RunQueue: pop_any empties everything in the same order each time") {
  const auto play = [] {
    RunQueue queue({.promote_every = 2, .aging = bide::Aging::on});
    Nodes nodes;
    std::deque<Urgency> urgencies;
    for (std::int64_t i = 0; i < 40; ++i) {
      Urgency& moving = urgencies.emplace_back();
      if (i % 3 == 0) moving.latest_start = std::chrono::seconds(i * 17 % 23);
      queue.push(nodes.emplace_back(static_cast<Priority>(i % 4), &moving));
      if (i % 5 == 4) queue.pop(std::chrono::seconds(i));
    }
    std::vector<std::uint64_t> sequences;
    while (QueueNode* const node = queue.pop_any()) sequences.push_back(node->sequence);
    return sequences;
  };
  CHECK(play().size() == 32);
  CHECK(play() == play());
}

TEST_CASE("RunQueue: a move takes the nodes and leaves a new queue") {
  RunQueue source;
  Nodes nodes;
  for (const Priority priority : {low, high, normal}) source.push(nodes.emplace_back(priority));
  RunQueue target(std::move(source));
  CHECK(source.empty());
  CHECK(source.next_sequence() == 0);
  CHECK(target.next_sequence() == 3);
  source = std::move(target);
  CHECK(drain(source) == std::vector<std::uint64_t>{1, 2, 0});
}

TEST_CASE("RunQueue: pushing twice and removing what is not queued end the process") {
  CHECK(aborts([] {
    RunQueue queue;
    QueueNode node;
    queue.push(node);
    queue.push(node);
  }));
  CHECK(aborts([] {
    RunQueue queue;
    QueueNode node;
    queue.remove(node);
  }));
  CHECK(!aborts([] {
    RunQueue queue;
    QueueNode node;
    queue.push(node);
    queue.remove(node);
    queue.push(node);
  }));
}
