#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <bide/queue/ticket_queue.hpp>
#include <catch2/catch.hpp>

using bide::Priority;
using bide::QueueFull;
using bide::Ticket;
using bide::TicketQueue;

namespace {

constexpr auto low = Priority::low;
constexpr auto normal = Priority::normal;
constexpr auto high = Priority::high;
constexpr auto critical = Priority::critical;

using Pushes = std::vector<std::pair<std::uint64_t, Priority>>;
using Ids = std::vector<std::uint64_t>;

void push_all(TicketQueue& queue, const Pushes& pushes) {
  for (const auto& [id, priority] : pushes) queue.push(id, priority);
}

Ids drain(TicketQueue& queue) {
  Ids ids;
  while (const std::optional<Ticket> ticket = queue.pop()) ids.push_back(ticket->id);
  return ids;
}

/// Which pop gives the one low ticket, when work of `flood` is pushed before each pop; 0 if none of a
/// thousand.
int low_pop_number(std::uint64_t promote_every, Priority flood) {
  TicketQueue queue({.capacity = 2000, .promote_every = promote_every});
  queue.push(0, low);
  for (int number = 1; number <= 1000; ++number) {
    queue.push(1, flood);
    if (queue.pop()->id == 0) return number;
  }
  return 0;
}

}  // namespace

TEST_CASE("TicketQueue: the higher class goes first, then the earlier push") {
  TicketQueue queue;
  push_all(queue, {{1, low}, {2, normal}, {3, critical}, {4, high}, {5, normal}, {6, critical}});
  CHECK(drain(queue) == Ids{3, 6, 4, 2, 5, 1});
}

TEST_CASE("TicketQueue: ids do not order") {
  TicketQueue queue;
  push_all(queue, {{10, normal}, {9, normal}, {8, normal}});
  CHECK(drain(queue) == Ids{10, 9, 8});
}

TEST_CASE("TicketQueue: pushes between pops keep the order") {
  TicketQueue queue;
  push_all(queue, {{1, normal}, {2, low}});
  CHECK(queue.pop()->id == 1);
  push_all(queue, {{3, high}, {4, low}});
  CHECK(queue.pop()->id == 3);
  push_all(queue, {{5, normal}});
  CHECK(drain(queue) == Ids{5, 2, 4});
  CHECK(queue.pop() == std::nullopt);
}

TEST_CASE("TicketQueue: full refuses every class and uses up no sequence") {
  TicketQueue queue;
  for (std::uint64_t i = 0; i < 256; ++i) CHECK(queue.push(i, low).sequence == i);
  CHECK(queue.size() == queue.capacity());
  CHECK_THROWS_AS(queue.push(999, critical), QueueFull);
  CHECK_THROWS_WITH(queue.push(999, critical), "ticket queue is full: 256 tickets wait");
  CHECK(queue.try_push(999, critical) == std::nullopt);
  CHECK(queue.size() == 256);
  CHECK(queue.pop() == Ticket{0, low, 0});
  CHECK(queue.push(999, critical) == Ticket{999, critical, 256});
  CHECK(queue.pop() == Ticket{999, critical, 256});
  CHECK(queue.pop() == Ticket{1, low, 1});
}

TEST_CASE("TicketQueue: an id may repeat") {
  TicketQueue queue;
  push_all(queue, {{7, normal}, {7, normal}, {7, normal}});
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence)
    CHECK(queue.pop() == Ticket{7, normal, sequence});
  CHECK(queue.empty());
}

TEST_CASE("TicketQueue: equal pushes and pops give equal tickets") {
  const auto play = [] {
    TicketQueue queue({.capacity = 20, .promote_every = 3});
    std::vector<Ticket> tickets;
    for (std::uint64_t i = 0; i < 200; ++i) {
      queue.try_push(i, static_cast<Priority>(i * 7 % 11 % 4));
      if (i % 3 != 0) tickets.push_back(queue.pop().value_or(Ticket{}));
    }
    return tickets;
  };
  CHECK(play() == play());
}

TEST_CASE("TicketQueue: the largest id passes through") {
  TicketQueue queue;
  queue.push(std::numeric_limits<std::uint64_t>::max(), low);
  CHECK(queue.pop()->id == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("TicketQueue: capacity zero is always full") {
  TicketQueue queue({.capacity = 0});
  CHECK_THROWS_AS(queue.push(1, critical), QueueFull);
  CHECK(queue.try_push(1, low) == std::nullopt);
  CHECK(queue.pop() == std::nullopt);
  CHECK(queue.empty());
}

TEST_CASE("TicketQueue: capacity one holds one") {
  TicketQueue queue({.capacity = 1});
  for (std::uint64_t i = 0; i < 100; ++i) {
    CHECK(queue.push(i, low).sequence == i);
    CHECK(queue.try_push(i, critical) == std::nullopt);
    CHECK(queue.pop() == Ticket{i, low, i});
  }
}

TEST_CASE("TicketQueue: an unlimited capacity allocates by need") {
  TicketQueue queue({.capacity = std::numeric_limits<std::size_t>::max()});
  for (std::uint64_t i = 0; i < 5000; ++i) queue.push(i, low);
  CHECK(queue.size() == 5000);
  CHECK(drain(queue).size() == 5000);
}

TEST_CASE("TicketQueue: a ticket is 24 bytes") { CHECK(sizeof(Ticket) * 256 == 6144); }

TEST_CASE("TicketQueue: promotion brings one low ticket through high work in 2N + 1 pops") {
  CHECK(low_pop_number(1, high) == 3);
  CHECK(low_pop_number(2, high) == 5);
  CHECK(low_pop_number(4, high) == 9);
  CHECK(low_pop_number(8, high) == 17);
}

TEST_CASE("TicketQueue: promotion never enters critical") {
  CHECK(low_pop_number(1, critical) == 0);
  CHECK(low_pop_number(4, critical) == 0);
}

TEST_CASE("TicketQueue: promotion raises the oldest ticket below high after every N-th pop") {
  const Pushes pushes = {{1, low}, {2, low}, {3, normal}, {4, high}, {5, high}, {6, high}, {7, normal}};
  TicketQueue promoting({.promote_every = 2});
  push_all(promoting, pushes);
  CHECK(drain(promoting) == Ids{4, 5, 6, 1, 2, 3, 7});

  TicketQueue strict;
  push_all(strict, pushes);
  CHECK(drain(strict) == Ids{4, 5, 6, 3, 7, 1, 2});

  TicketQueue never({.promote_every = std::numeric_limits<std::uint64_t>::max()});
  push_all(never, pushes);
  CHECK(drain(never) == Ids{4, 5, 6, 3, 7, 1, 2});
  CHECK(low_pop_number(0, high) == 0);
}

TEST_CASE("TicketQueue: an empty pop counts for no promotion") {
  TicketQueue queue({.promote_every = 2});
  queue.pop();
  push_all(queue, {{1, low}, {2, high}, {3, high}, {4, high}, {5, normal}});
  CHECK(queue.pop()->id == 2);
  CHECK(queue.pop()->id == 3);  // the second: ticket 1 rises to normal
  CHECK(queue.pop()->id == 4);
  CHECK(queue.pop() == Ticket{1, normal, 0});
}

TEST_CASE("TicketQueue: a move takes the tickets and leaves a new queue") {
  STATIC_REQUIRE(!std::is_copy_constructible_v<TicketQueue>);
  TicketQueue source({.capacity = 3, .promote_every = 1});
  push_all(source, {{1, low}, {2, high}});
  TicketQueue target(std::move(source));
  CHECK(target.push(3, normal).sequence == 2);
  CHECK(target.try_push(4, critical) == std::nullopt);

  CHECK(source.empty());
  CHECK(source.capacity() == 3);
  CHECK(source.push(9, low) == Ticket{9, low, 0});

  source = std::move(target);
  CHECK(drain(source) == Ids{2, 1, 3});
  CHECK(target.empty());
}
