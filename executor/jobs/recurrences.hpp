#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <bide/executor/jobs/job_handle.hpp>
#include <bide/executor/jobs/recurrence.hpp>
#include <bide/executor/jobs/recurring.hpp>
#include <bide/executor/timed_call.hpp>

namespace bide {

class JobEngine;

/// The recurring jobs of a scheduler: submits each occurrence when its time comes.
class Recurrences {
 public:
  explicit Recurrences(JobEngine& engine);
  ~Recurrences();

  void add(Recurring recurring);
  bool remove(std::string_view name);
  void clear();
  /// Occurrences that were left out because the one before was live, or the job was refused.
  std::uint64_t skipped(std::string_view name) const;

 private:
  /// One Recurring, and the alarm of its next occurrence.
  class Series;

  JobEngine& engine_;
  std::map<std::string, std::unique_ptr<Series>, std::less<>> series_;
};

}  // namespace bide
