#pragma once

#include "input_error.hpp"
#include "replay.hpp"
#include "workload_reader.hpp"

#include <string>
#include <string_view>

namespace bide::test {

inline bide_jobs::Workload csv(std::string_view text, bide_jobs::ReadOptions options = {}) {
  options.format = bide_jobs::Format::csv;
  return bide_jobs::parse_workload(text, "jobs.csv", options);
}

inline bide_jobs::Workload swf(std::string_view text, bide_jobs::ReadOptions options = {}) {
  options.format = bide_jobs::Format::swf;
  return bide_jobs::parse_workload(text, "trace.swf", options);
}

/// The message with which reading ends; empty when it does not fail.
template <class Read>
std::string error_of(Read read) {
  try {
    read();
  } catch (const bide_jobs::InputError& error) {
    return error.what();
  }
  return "";
}

inline std::string csv_error(std::string_view text, const bide_jobs::ReadOptions& options = {}) {
  return error_of([&] { csv(text, options); });
}

inline std::string swf_error(std::string_view text, const bide_jobs::ReadOptions& options = {}) {
  return error_of([&] { swf(text, options); });
}

/// `E[0-1] C[1-2]`: who ran from when to when, in the order of the decisions; refused jobs at the end, as
/// `X!`.
inline std::string schedule(const bide_jobs::Workload& workload, const bide_jobs::History& history) {
  auto seconds = [](std::chrono::nanoseconds time) { return std::to_string(time.count() / 1'000'000'000); };
  std::string text;
  for (const bide_jobs::Decision& decision : history.decisions) {
    const bide_jobs::Fate& fate = history.fates[decision.job];
    text += workload.jobs[decision.job].name + "[" + seconds(fate.started) + "-" + seconds(fate.ended) + "] ";
  }
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    if (history.fates[i].end != bide_jobs::Fate::End::done) text += workload.jobs[i].name + "! ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

inline bide_jobs::History replayed(const bide_jobs::Workload& workload, bide_jobs::Policy policy,
                                   std::int64_t workers = 1, std::size_t capacity = 256) {
  bide_jobs::ReplayOptions options;
  options.policy = policy;
  options.workers = workers;
  options.capacity = capacity;
  return bide_jobs::replay(workload, options);
}

inline std::string schedule_of(std::string_view csv_text, bide_jobs::Policy policy, std::int64_t workers = 1,
                               std::size_t capacity = 256) {
  bide_jobs::Workload workload = csv(csv_text);
  return schedule(workload, replayed(workload, policy, workers, capacity));
}

}  // namespace bide::test
