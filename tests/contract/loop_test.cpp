#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include <catch2/catch.hpp>

#include <bide/executor/scope/timeout.hpp>

#include "behaviours.hpp"

// Time, classes and turns while the loop waits in a driver.

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

Task<> reads_a_byte(Stage& on, const Ends& ends) {
  std::array<char, 1> memory{};
  const std::int64_t result = co_await RawCall(reading(ends[0], memory));
  on.note("read: " + shown(result));
}
Task<> writes_a_byte(const Ends& ends) { co_await RawCall(writing(ends[1], "x")); }
Task<> sleeps(Stage& on, const char* name, Duration duration) {
  const Instant due = add_saturating(now(), duration);
  co_await Sleep(duration);
  on.note(now() < due ? std::string(name) + " is early" : name);
}
constexpr int turns_at_most = 10'000'000;
Task<> yields_until(Stage& on, std::size_t lines) {
  for (int turns = 0; on.log.size() < lines && turns < turns_at_most; ++turns) co_await Yield();
}
Task<> tells_class(Stage& on, const Ends& ends) {
  co_await reads_a_byte(on, ends);
  on.note(to_string(running.thread->rank));
  const bool read = co_await try_timeout(1ms, reads_a_byte(on, ends));
  on.note((read ? "read, " : "timed out, ") + std::string(to_string(running.thread->rank)));
}

const Behaviours loop_behaviours(
    Under::delays,
    {
        {"Executor: sleeps of any length neither wake early nor hold up others, and the kernel takes them",
         [](Stage& stage) {
           const Ends ends = Ends::pipe();
           stage.submit(reads_a_byte, std::ref(stage), std::ref(ends));
           Handle<> longest = stage.submit(sleeps, std::ref(stage), "max", Duration::max());
           stage.submit(sleeps, std::ref(stage), "-1 s", Duration(-1s));
           stage.submit(sleeps, std::ref(stage), "min", Duration::min());
           stage.submit(sleeps, std::ref(stage), "5 ms", Duration(5ms));
           stage.executor.run_for(10ms);
           CHECK(stage.log == Log{"-1 s", "min", "5 ms"});
           stage.submit(
               [](const Ends& to, Handle<>& sleeper) -> Task<> {
                 co_await Sleep(1ms);
                 co_await RawCall(writing(to[1], "x"));
                 co_await Sleep(1ms);  // the read is over: the end of time alone is waited for
                 sleeper.cancel();
               },
               std::ref(ends), std::ref(longest));
           stage.run();
           CHECK(stage.log == Log{"-1 s", "min", "5 ms", "read: 1"});
           CHECK(stage.counts().refused_timeouts == 0);
         }},
        {"Executor: between sleeps it waits in the driver, and does not turn in circles",
         [](Stage& stage) {
           const Ends ends = Ends::pipe();
           Handle<> reader = stage.submit(reads_a_byte, std::ref(stage), std::ref(ends));
           stage.executor.run_for(1ms);
           const std::uint64_t before = stage.counts().enters;
           stage.submit(
               [](Handle<>& other) -> Task<> {
                 for (int i = 0; i < 10; ++i) co_await Sleep(2ms);
                 other.cancel();
               },
               std::ref(reader));
           stage.run();
           CHECK(stage.log.empty());
           if (stage.fault == Fault::none) CHECK(stage.counts().enters - before <= 3 * 11);
         }},
        {"Executor: what comes from outside gets its turn while others yield without end",
         [](Stage& stage) {
           const Ends ends = Ends::pipe();
           stage.submit(reads_a_byte, std::ref(stage), std::ref(ends));
           stage.submit(sleeps, std::ref(stage), "1 ms", Duration(1ms));
           for (int i = 0; i < 2; ++i) stage.submit(yields_until, std::ref(stage), std::size_t{2});
           stage.submit(writes_a_byte, std::ref(ends));
           stage.run();
           std::sort(stage.log.begin(), stage.log.end());
           CHECK(stage.log == Log{"1 ms", "read: 1"});
           CHECK(stage.executor.report().resumes < turns_at_most);
         }},
        {"Executor: a thread comes back from the outside in the class in which it left",
         [](Stage& stage) {
           const Ends ends = Ends::pipe();
           stage.executor.submit(tells_class(stage, ends), {.priority = Priority::critical});
           stage.executor.submit(writes_a_byte(ends), {.priority = Priority::low});
           stage.run();
           CHECK(stage.log == Log{"read: 1", "critical", "timed out, critical"});
         }},
    });

}  // namespace
