#include <catch2/catch.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/tests/executor/timeline.hpp>
#include <bide/tests/random.hpp>

// Threads that do whatever comes, cancelled at whatever instant. Nothing is lost: items sent = received +
// queued, and an item that was not sent is with its sender; permits and locks are as many as before.

namespace {

using namespace bide;
using bide::test::Random;
using bide::test::virtual_time;

constexpr int thread_count = 12;
constexpr int steps = 40;

Duration some_time(Random& random) { return std::chrono::nanoseconds(random.below(20)); }

struct Books {
  std::uint64_t made = 0;      // items that a send was begun with
  std::uint64_t sent = 0;      // sends that returned
  std::uint64_t returned = 0;  // items still there after a send that threw
  std::uint64_t received = 0;
  std::uint64_t drained = 0;
  std::uint64_t cancels = 0;
  std::multiset<std::uint64_t> missing;  // items sent and not received yet, by number
  bool broken = false;
};

using Item = std::unique_ptr<std::uint64_t>;
using Items = Channel<Item>;

struct World {
  explicit World(std::uint64_t seed) : random(seed), a(random.below(3)), b(random.below(2)) {}

  Random random;
  Items a;
  Items b;
  Semaphore permits{3};
  Mutex mutex;
  SharedMutex shared_mutex;
  std::size_t taken = 0;
  int inside = 0;
  int readers = 0;
  Books books;

  Items& some_channel() { return random.below(2) == 0 ? a : b; }
  Item make() {
    ++books.made;
    books.missing.insert(books.made);
    return std::make_unique<std::uint64_t>(books.made);
  }
  void got(const std::optional<Item>& item) {
    if (!item) return;
    ++books.received;
    if (books.missing.erase(**item) != 1) books.broken = true;
  }
  void kept(const Item& item) {
    if (item == nullptr) return;
    ++books.returned;
    books.missing.erase(*item);
  }
};

Task<> sends(World& world) {
  Item item = world.make();
  try {
    co_await world.some_channel().send(std::move(item));
    ++world.books.sent;
  } catch (...) {
    world.kept(item);
    throw;
  }
}

Task<> receives(World& world) { world.got(co_await world.some_channel().receive()); }

Task<> selects(World& world) {
  Item item = world.make();
  try {
    Items& one = world.some_channel();
    Items& other = world.some_channel();
    auto selected = co_await select(
        sending(one, std::move(item)), receiving(other), [&] { return world.permits.acquire(2); },
        [&] { return world.mutex.lock(); }, Sleep(some_time(world.random)));
    if (selected.index == 0) ++world.books.sent;
    if (selected.index == 1) world.got(std::get<1>(selected.value));
    if (selected.index == 2) world.permits.release(2);
    if (selected.index == 3 && ++world.inside > 1) world.books.broken = true;
    if (selected.index == 3) --world.inside;
    world.kept(item);
  } catch (...) {
    world.kept(item);
    throw;
  }
}

Task<> acquires(World& world) {
  const std::size_t permits = 1 + world.random.below(3);
  co_await world.permits.acquire(permits);
  world.taken += permits;
  if (world.taken > 3) world.books.broken = true;
  try {
    co_await Sleep(some_time(world.random));
  } catch (...) {
    world.taken -= permits;
    world.permits.release(permits);
    throw;
  }
  world.taken -= permits;
  world.permits.release(permits);
}

Task<> locks(World& world) {
  const Mutex::Guard guard = co_await world.mutex.lock();
  if (++world.inside > 1) world.books.broken = true;
  const test::AtExit leave([&] { --world.inside; });
  co_await Sleep(some_time(world.random));
}

Task<> reads_or_writes(World& world) {
  const bool writes = world.random.below(3) == 0;
  if (writes) {
    const SharedMutex::Guard guard = co_await world.shared_mutex.lock();
    if (world.readers != 0) world.books.broken = true;
    world.readers = -1;
    const test::AtExit leave([&] { world.readers = 0; });
    co_await Sleep(some_time(world.random));
  } else {
    const SharedMutex::Guard guard = co_await world.shared_mutex.lock_shared();
    if (world.readers < 0) world.books.broken = true;
    ++world.readers;
    const test::AtExit leave([&] { --world.readers; });
    co_await Sleep(some_time(world.random));
  }
}

Task<> lives(World& world) {
  try {
    for (int step = 0; step < steps; ++step) {
      co_await Sleep(some_time(world.random));
      const std::uint64_t what = world.random.below(6);
      if (what == 0) co_await sends(world);
      if (what == 1) co_await receives(world);
      if (what == 2) co_await selects(world);
      if (what == 3) co_await acquires(world);
      if (what == 4) co_await locks(world);
      if (what == 5) co_await reads_or_writes(world);
    }
  } catch (const Cancelled&) {
    ++world.books.cancels;
  } catch (const ChannelClosed&) {
  }
}

Task<> cancels_some(World& world, std::vector<Handle<>>& handles) {
  for (int i = 0; i < thread_count; ++i) {
    co_await Sleep(some_time(world.random) * 5);
    handles[world.random.below(handles.size())].cancel();
  }
  co_await Sleep(std::chrono::microseconds(10));
  world.a.close();
  world.b.close();
}

std::uint64_t drain(Items& items, World& world) {
  std::uint64_t count = 0;
  for (std::optional<Item> item; (item = items.try_receive()); ++count) world.got(item);
  return count;
}

}  // namespace

TEST_CASE("Sync: random threads and cancels lose no item, no permit and no lock") {
  std::uint64_t all_cancels = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    World world(seed);
    {
      Executor executor(virtual_time);
      std::vector<Handle<>> handles;
      for (int i = 0; i < thread_count; ++i) {
        handles.push_back(
            executor.submit(lives(world), {.priority = static_cast<Priority>(world.random.below(4))}));
      }
      executor.submit(cancels_some(world, handles));
      executor.run();
    }
    drain(world.a, world);
    drain(world.b, world);
    const Books& books = world.books;
    const bool balanced = !books.broken && books.missing.empty() &&
                          books.made == books.received + books.returned && books.sent == books.received;
    const bool free = world.permits.value() == 3 && world.permits.waiters() == 0 && !world.mutex.locked() &&
                      !world.shared_mutex.locked() && world.shared_mutex.readers() == 0 && world.taken == 0;
    if (!balanced || !free) {
      INFO("seed " << seed << ": made " << books.made << ", sent " << books.sent << ", received "
                   << books.received << ", returned " << books.returned << ", permits "
                   << world.permits.value());
      REQUIRE(balanced);
      REQUIRE(free);
    }
    all_cancels += books.cancels;
  }
  CHECK(all_cancels > 1000);
}

// Each executor is destroyed in the middle of it all.
TEST_CASE("Sync: an executor that goes at any instant leaves locks free and items destroyed once") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    World world(seed);
    {
      Executor executor(virtual_time);
      for (int i = 0; i < thread_count; ++i) executor.submit(lives(world));
      executor.run_for(std::chrono::nanoseconds(world.random.below(400)));
      for (std::uint64_t more = world.random.below(8); more > 0; --more) executor.run_one();
    }
    INFO("seed " << seed);
    CHECK((!world.mutex.locked() && !world.shared_mutex.locked() && world.shared_mutex.readers() == 0));
    CHECK((world.mutex.waiters() + world.shared_mutex.waiters() + world.permits.waiters() == 0));
    CHECK((world.a.waiting_senders() + world.a.waiting_receivers() + world.b.waiting_receivers() == 0));
  }
}
