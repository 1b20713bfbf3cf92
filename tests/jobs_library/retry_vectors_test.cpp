// Retries and token buckets as a JobScheduler counts them, in virtual time.

#include "schedule.hpp"

#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

using Milliseconds = std::vector<std::int64_t>;

struct Attempts {
  Milliseconds starts;
  JobStatus status = JobStatus::ready;
  std::uint32_t count = 0;
};

Task<JobOutcome> fail(JobContext&, JobOutcome outcome, Milliseconds* starts) {
  starts->push_back(now().time_since_epoch() / 1ms);
  co_return outcome;
}

Task<> submit_failing(JobScheduler& scheduler, RetryPolicy retry, JobOutcome outcome, Attempts* attempts) {
  Job job(fail, outcome, &attempts->starts);
  job.retry = retry;
  const JobHandle handle = co_await scheduler.submit(std::move(job));
  const JobResult result = co_await handle;
  attempts->status = result.status;
  attempts->count = result.attempts;
}

/// A job whose every attempt ends at once with `outcome`.
Attempts attempts_of(RetryPolicy retry, JobOutcome outcome = JobOutcome::retryable("no"),
                     std::uint64_t seed = 1) {
  Attempts attempts;
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler({.seed = seed});
  executor.submit(submit_failing(scheduler, retry, std::move(outcome), &attempts));
  executor.run();
  return attempts;
}

RetryPolicy policy(std::uint32_t attempts, Duration initial, std::uint32_t multiplier, Duration longest) {
  RetryPolicy policy;
  policy.max_attempts = attempts;
  policy.initial_backoff = initial;
  policy.multiplier = {multiplier, 1};
  policy.max_backoff = longest;
  policy.jitter = RetryPolicy::Jitter::none;
  return policy;
}

Milliseconds gaps(const Milliseconds& starts) {
  Milliseconds gaps;
  for (std::size_t i = 1; i < starts.size(); ++i) gaps.push_back(starts[i] - starts[i - 1]);
  return gaps;
}

}  // namespace

SCENARIO("R1: each backoff is the one before times the multiplier, up to the longest") {
  CHECK(gaps(attempts_of(policy(10, 500ms, 2, 30s)).starts) ==
        Milliseconds{500, 1000, 2000, 4000, 8000, 16'000, 30'000, 30'000, 30'000});
  CHECK(gaps(attempts_of(policy(8, 100ms, 3, 10s)).starts) ==
        Milliseconds{100, 300, 900, 2700, 8100, 10'000, 10'000});
}

SCENARIO("R2: jitter draws from all of the backoff, and a retry_after is the least") {
  RetryPolicy jittered = policy(2, 2s, 2, 30s);
  jittered.jitter = RetryPolicy::Jitter::full;
  std::array<int, 4> quarters{};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::int64_t gap = gaps(attempts_of(jittered, JobOutcome::retryable("no"), seed).starts)[0];
    REQUIRE(gap >= 0);
    REQUIRE(gap <= 2000);
    ++quarters[static_cast<std::size_t>(std::min<std::int64_t>(gap / 500, 3))];
    CHECK(gaps(attempts_of(jittered, JobOutcome::retryable("no"), seed).starts)[0] == gap);
  }
  for (const int quarter : quarters) CHECK(quarter > 25);
  const JobOutcome later = JobOutcome::retryable("no", 5s);
  CHECK(gaps(attempts_of(policy(2, 2s, 2, 30s), later).starts) == Milliseconds{5000});
  CHECK(gaps(attempts_of(policy(2, 8s, 2, 30s), later).starts) == Milliseconds{8000});
}

SCENARIO("R3: three retryable failures make a dead letter, one failure for good a failed job") {
  const Attempts dead = attempts_of(policy(3, 500ms, 2, 30s));
  CHECK(dead.status == JobStatus::dead_lettered);
  CHECK(dead.count == 3);
  const Attempts failed = attempts_of(policy(3, 500ms, 2, 30s), JobOutcome::failure("no"));
  CHECK(failed.status == JobStatus::failed);
  CHECK(failed.count == 1);
}

namespace {
Task<JobOutcome> note_start(JobContext&, Milliseconds* starts) {
  starts->push_back(now().time_since_epoch() / 1ms);
  co_return JobOutcome::success();
}

Task<> take_tokens(JobScheduler& scheduler, Milliseconds* starts) {
  scheduler.add_token_bucket("tokens", Rate(2), 3);
  std::vector<JobHandle> handles;
  for (const Duration at : {0ms, 0ms, 0ms, 250ms, 10'000ms, 10'000ms, 10'000ms, 10'000ms}) {
    co_await SleepUntil(Instant(at));
    Job job(note_start, starts);
    job.resources.emplace_back("tokens");
    handles.push_back(co_await scheduler.submit(std::move(job)));
  }
  for (const JobHandle& handle : handles) co_await handle;
}
}  // namespace

SCENARIO("R4: a bucket of 3 with 2 a second is full at first, has half a token at .25 s, and 3 at 10 s") {
  Milliseconds starts;
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  scheduler.add_pool("default", {.workers = 8});
  executor.submit(take_tokens(scheduler, &starts));
  executor.run();
  CHECK(starts == Milliseconds{0, 0, 0, 500, 10'000, 10'000, 10'000, 10'500});
}
