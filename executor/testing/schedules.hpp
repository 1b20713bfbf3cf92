#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

/// Other orders than the promised one. First come first served among equal threads is a promise of the executor,
/// but not of the world outside: what holds under every order of equals does not lean on luck.
///
///     const auto report = for_each_schedule([](Executor& executor) {
///       Account account;
///       executor.submit(deposit(account));
///       executor.submit(withdraw(account));
///       executor.run();
///       if (account.balance < 0) throw std::runtime_error("overdrawn");
///     });
///     CHECK(report);
namespace bide::testing {

/// Submits threads, runs the executor, and throws when it does not like what came out. Called once a schedule,
/// each time with a fresh executor in virtual time. Must depend on nothing but the executor.
using ScheduleScenario = std::function<void(Executor&)>;

struct ScheduleFailure {
  std::string replay;  // for replay_schedule: the choices, as "0,2,1"; empty: the order as it is promised
  std::string what;    // what the scenario threw
};

struct ScheduleReport {
  std::uint64_t schedules = 0;            // how many were run
  bool complete = false;                  // these were all that there are
  std::vector<ScheduleFailure> failures;  // the first ten

  /// `24 schedules, all there are; 1 failed`, then a line a failure: `replay_schedule("0,1", scenario): overdrawn`.
  std::string text() const;

  explicit operator bool() const { return failures.empty(); }
};
std::ostream& operator<<(std::ostream&, const ScheduleReport&);

struct ScheduleOptions {
  std::uint64_t most = 100'000;  // schedules to run
  /// One line to stdout: `for_each_schedule: 24 schedules, all there are; none failed`.
  enum class Print : std::uint8_t { no, yes } print = Print::yes;
};

/// Runs the scenario under every order of ready threads of equal class, depth first, up to `most`.
/// Throws: nothing of the scenario's.
ScheduleReport for_each_schedule(const ScheduleScenario& scenario, ScheduleOptions options = {});

/// Runs the scenario under `count` orders drawn from the seed: the same ones on every machine.
ScheduleReport for_random_schedules(std::uint64_t count, std::uint64_t seed,
                                    const ScheduleScenario& scenario);

/// Runs the scenario once, under the order that a failure names. Throws what the scenario throws.
void replay_schedule(const std::string& replay, const ScheduleScenario& scenario);

}  // namespace bide::testing
