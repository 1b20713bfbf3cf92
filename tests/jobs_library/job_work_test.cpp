#include <array>
#include <string>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/job.hpp>

using namespace bide;

namespace {

Task<JobOutcome> join(JobContext& context, std::string left, int right) {
  co_return JobOutcome::success(context.payload() + left + std::to_string(right));
}

std::string run(JobWork& work, const std::string& payload) {
  Executor executor({.time = TimeMode::virtual_time});
  JobContext context(1, 1, std::nullopt, payload);
  auto handle = executor.submit(work(context));
  executor.run();
  return handle.take().text();
}

}  // namespace

TEST_CASE("JobWork: every attempt begins with the same arguments") {
  JobWork work(join, std::string("a"), 1);
  CHECK(run(work, "p") == "pa1");
  CHECK(run(work, "q") == "qa1");
}

TEST_CASE("JobWork: a copy has a life of its own, small or large") {
  std::array<char, 200> large{};
  large.fill('x');
  const std::string captured = "a string that is too long to lie within itself";
  const auto count = [large, captured](JobContext&, std::size_t more) -> Task<JobOutcome> {
    co_return JobOutcome::success(captured + std::to_string(large.size() + more));
  };
  JobWork copy;
  CHECK(!copy);
  {
    const JobWork work(count, std::size_t{1});
    copy = work;
  }
  REQUIRE(copy);
  CHECK(run(copy, "") == captured + "201");
  JobWork moved(std::move(copy));
  CHECK(run(moved, "") == captured + "201");
}

TEST_CASE("Job: takes work and its arguments, or none") {
  Job with(join, std::string("b"), 2);
  CHECK(run(with.work, "") == "b2");
  CHECK(!Job().work);
}
