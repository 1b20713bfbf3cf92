#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <bide/executor/scope/outcome.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/scope/when_all.hpp>
#include <bide/executor/scope/when_any.hpp>
#include <bide/executor/testing/cancel_sweep.hpp>

#include "../executor/gate.hpp"
#include "../executor/timeline.hpp"

extern "C" [[gnu::weak]] int __lsan_do_recoverable_leak_check();

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::AtExit;
using bide::test::Gate;
using bide::testing::CancelSweepOptions;
using bide::testing::CancelSweepReport;
using bide::testing::for_each_cancel_point;

// What every run checks: that all that began has ended, in whatever way.
struct Balance {
  int open = 0;
  int begun = 0;
};
class Piece {
 public:
  explicit Piece(Balance& balance) : balance_(balance) {
    ++balance_.open;
    ++balance_.begun;
  }
  ~Piece() { --balance_.open; }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

 private:
  Balance& balance_;
};

Task<int> works(Balance& balance, Duration after) {
  const Piece piece(balance);
  co_await Sleep(after);
  co_await Yield();
  co_return 1;
}
Task<> fails(Balance& balance, Duration after) {
  const Piece piece(balance);
  co_await Sleep(after);
  throw std::runtime_error("failed");
}
Task<> cleans_up(Balance& balance) {
  const Piece piece(balance);
  bool cancelled = false;
  try {
    co_await Sleep(5ms);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  if (cancelled) co_await shielded(works(balance, 3ms));
  co_await Yield();
}
Task<int> group_body(TaskGroup& group, Balance& balance) {
  const Piece piece(balance);
  group.submit(cleans_up(balance));
  group.submit(works(balance, 2ms));
  Handle<int> joined = group.submit(works(balance, 1ms));
  co_return co_await joined;
}
Task<> failing_body(TaskGroup& group, Balance& balance) {
  group.submit(cleans_up(balance));
  group.submit(fails(balance, 2ms));
  co_await Sleep(4ms);
}

// The combinators, each with the rest of a pair inside.
using Inner = std::function<Task<>(Balance&)>;
Task<> bare(Balance& balance) { co_await cleans_up(balance); }
Task<> in_timeout(Balance& balance, Inner inner) {
  try {
    co_await timeout(3ms, inner(balance));
  } catch (const TimedOut&) {
  }
}
Task<> in_try_timeout(Balance& balance, Inner inner) { co_await try_timeout(20ms, inner(balance)); }
Task<> in_deadline(Balance& balance, Inner inner) {
  try {
    co_await deadline(Instant(4ms), inner(balance));
  } catch (const TimedOut&) {
  }
}
Task<> in_shield(Balance& balance, Inner inner) { co_await shielded(inner(balance)); }
Task<> in_outcome(Balance& balance, Inner inner) { static_cast<void>(co_await outcome(inner(balance))); }
Task<> in_when_all(Balance& balance, Inner inner) { co_await when_all(inner(balance), works(balance, 2ms)); }
Task<> in_when_any(Balance& balance, Inner inner) { co_await when_any(inner(balance), works(balance, 3ms)); }
Task<> in_when_any_success(Balance& balance, Inner inner) {
  try {
    co_await when_any_success(fails(balance, 2ms), inner(balance));
  } catch (const std::runtime_error&) {  // an error goes before the cancel
  }
}
Task<> in_settled(Balance& balance, Inner inner) {
  co_await when_all_settled(inner(balance), fails(balance, 2ms));
}
Task<> in_group(Balance& balance, Inner inner) {
  co_await with_task_group(group_body, std::ref(balance));
  co_await inner(balance);
}
Task<> in_failing_group(Balance& balance, Inner inner) {
  try {
    co_await with_task_group(failing_body, std::ref(balance));
  } catch (const std::runtime_error&) {
  }
  co_await inner(balance);
}

struct Combinator {
  const char* name;
  Task<> (*around)(Balance&, Inner);
};
constexpr Combinator combinators[] = {{"timeout", in_timeout},
                                      {"try_timeout", in_try_timeout},
                                      {"deadline", in_deadline},
                                      {"shielded", in_shield},
                                      {"outcome", in_outcome},
                                      {"when_all", in_when_all},
                                      {"when_any", in_when_any},
                                      {"when_any_success", in_when_any_success},
                                      {"settled", in_settled},
                                      {"group", in_group},
                                      {"failing group", in_failing_group}};

auto scenario_of(Inner task) {
  return [task](Executor& executor) {
    auto balance = std::make_shared<Balance>();
    executor.submit({.name = "victim"}, task, std::ref(*balance));
    return [balance] {
      return balance->open == 0 && balance->begun > 0 ? "" : std::to_string(balance->open) + " left";
    };
  };
}

TEST_CASE("Cancel sweep: every combinator, alone") {
  for (const Combinator& combinator : combinators) {
    CAPTURE(combinator.name);
    const CancelSweepReport report = for_each_cancel_point(
        scenario_of([&combinator](Balance& balance) { return combinator.around(balance, bare); }));
    CHECK(report);
    CHECK(report.points >= 3);
  }
}

TEST_CASE("Cancel sweep: every pair of combinators, each thread as the victim") {
  std::size_t points = 0;
  for (const Combinator& outer : combinators) {
    for (const Combinator& inner : combinators) {
      CAPTURE(outer.name, inner.name);
      const CancelSweepReport report = for_each_cancel_point(
          scenario_of([&outer, &inner](Balance& balance) {
            return outer.around(balance, [&inner](Balance& within) { return inner.around(within, bare); });
          }),
          {.victim = CancelSweepOptions::each_thread});
      CHECK(report);
      points += report.points;
    }
  }
  CHECK(points > 1'000);
}

Task<> takes_permit(int& permits, Gate& gate) {
  --permits;
  co_await gate.pass();
  ++permits;  // not reached by a cancel
}
Task<> opens(Gate& gate) {
  co_await Sleep(2ms);
  gate.open();
}

TEST_CASE("for_each_cancel_point: finds a permit that a cancel loses, and says where") {
  const CancelSweepReport report = for_each_cancel_point([](Executor& executor) {
    struct State {
      int permits = 1;
      Gate gate;
    };
    auto state = std::make_shared<State>();
    executor.submit(takes_permit(state->permits, state->gate), {.name = "taker"});
    executor.submit(opens(state->gate));
    return [state] { return state->permits == 1; };
  });
  CHECK_FALSE(report);
  CHECK(report.points == 3);  // submitted; in the gate; let through by it, and not gone on yet
  REQUIRE(report.failures.size() == 2);
  CHECK(report.failures[0].find("cancel point 1, thread 1 \"taker\" (normal) is ready") == 0);
  CHECK(report.failures[1].find("cancel point 2, thread 1 \"taker\" (normal) waits for the gate at ") == 0);
  CHECK(report.failures[1].find("cancel_sweep_test.cpp:") != std::string::npos);
  CHECK(report.failures[1].find(": the scenario's invariant does not hold") != std::string::npos);
}

Task<> waits(Gate& gate) { co_await gate.pass(); }

TEST_CASE("for_each_cancel_point: finds one that others then wait for in vain") {
  const CancelSweepReport report = for_each_cancel_point([](Executor& executor) {
    auto gate = std::make_shared<Gate>();
    executor.submit(opens(*gate));
    executor.submit(waits(*gate));
    return [gate] { return true; };
  });
  CHECK(report.points == 2);
  REQUIRE(report.failures.size() == 2);
  CHECK(report.failures[0].find(
            "deadlock at 0 s: 1 thread waits and nothing can wake it; by a lost wake-up: thread ") !=
        std::string::npos);
  for (const char* ugly : {"\n", ":;", ";;", "  "}) CHECK(report.failures[0].find(ugly) == std::string::npos);
}

Task<> ends_badly() {
  const AtExit nothing([] {});
  bool cancelled = false;
  try {
    co_await Sleep(1ms);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  if (cancelled) throw std::logic_error("no state for that");
}

TEST_CASE(
    "for_each_cancel_point: finds what does not end, what lets an error out, what fails without a cancel") {
  const CancelSweepReport error =
      for_each_cancel_point([](Executor& executor) { executor.submit(ends_badly()); });
  REQUIRE(error.failures.size() == 2);
  CHECK(error.failures[0].find(": an error left the run: no state for that") != std::string::npos);

  const CancelSweepReport check = for_each_cancel_point([](Executor& executor) {
    executor.submit(ends_badly());
    return [] { throw std::runtime_error("broken"); };
  });
  CHECK(check.failures == std::vector<std::string>{"without a cancel: the check throws: broken"});
  CHECK(check.points == 0);

  const CancelSweepReport endless = for_each_cancel_point(
      [](Executor& executor) {
        executor.submit({}, []() -> Task<> {
          for (int i = 0; i < 2'000; ++i) co_await Sleep(1ms);
        });
      },
      {.most_resumes = 1'000});
  CHECK(endless.failures == std::vector<std::string>{"without a cancel: the run does not end: 1000 resumes"});
}

Task<> works_for_nobody() { co_await Yield(); }

TEST_CASE("for_each_cancel_point: a sweep whose victim is never there fails") {
  const auto one = [](Executor& executor) { executor.submit(works_for_nobody()); };
  const std::vector<std::string> nobody{"no cancel point: the victim was never there"};
  CHECK(for_each_cancel_point(one));
  CHECK(for_each_cancel_point(one, {.victim = 7}).failures == nobody);
  const CancelSweepOptions each{.victim = CancelSweepOptions::each_thread};
  CHECK(for_each_cancel_point([](Executor&) {}, each).failures == nobody);
}

TEST_CASE("for_each_cancel_point: a check that throws anything at all is a failure") {
  const CancelSweepReport report = for_each_cancel_point([](Executor& executor) {
    executor.submit(works_for_nobody());
    return [] { throw 5; };
  });
  CHECK(report.failures ==
        std::vector<std::string>{"without a cancel: the check throws something that is no std::exception"});
}

// Hidden from LeakSanitizer, and freed in the end.
Task<> loses_when_cancelled(std::vector<std::uintptr_t>& lost) {
  auto* const memory = new std::array<char, 1'000>();
  try {
    co_await Sleep(1ms);
    delete memory;
  } catch (const Cancelled&) {
    lost.push_back(~reinterpret_cast<std::uintptr_t>(memory));
    throw;
  }
}

TEST_CASE("for_each_cancel_point: under LeakSanitizer a leak is a failure of its point alone") {
  std::vector<std::uintptr_t> lost;
  lost.reserve(10);
  const CancelSweepReport report = for_each_cancel_point(
      [&lost](Executor& executor) { executor.submit({}, loses_when_cancelled, std::ref(lost)); });
  CHECK(report.points == 2);
  CHECK(lost.size() == 2);  // submitted cancelled, and asleep
  if (__lsan_do_recoverable_leak_check != nullptr) {
    CHECK(report.failures.size() == 2);
    for (const std::string& failure : report.failures)
      CHECK(failure.find(": memory leaks") != std::string::npos);
  }
  for (const std::uintptr_t hidden : lost) delete reinterpret_cast<std::array<char, 1'000>*>(~hidden);
}

}  // namespace
