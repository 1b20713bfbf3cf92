#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <bide/executor/jobs/job_store.hpp>
#include <bide/executor/jobs/recurring.hpp>

namespace bide {

class JobEngine;

/// The recurring jobs of a scheduler: submits each occurrence when its time comes.
///
/// Durable: an occurrence and that it has come are one batch of the store. So the next process neither repeats nor loses
///          one, but for what Recurring::Missed says of the time between. A clock that has been set back by less than
///          three hours repeats nothing; by more, what recurs follows the clock.
class Recurrences {
 public:
  explicit Recurrences(JobEngine& engine);
  ~Recurrences();

  void add(Recurring recurring);
  /// Of the process before. Throws: std::invalid_argument, it can't go on here: its zone is gone.
  void restore(const StoredRecurring& stored);
  bool remove(std::string_view name);
  /// They stay in the store.
  void clear();
  std::vector<RecurringState> states() const;

 private:
  /// One Recurring, and the alarm of its next occurrence.
  class Series;

  JobEngine& engine_;
  std::map<std::string, std::unique_ptr<Series>, std::less<>> series_;
};

}  // namespace bide
