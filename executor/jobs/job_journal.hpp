#pragma once

#include <exception>
#include <vector>

#include <bide/executor/jobs/job_store.hpp>
#include <bide/executor/task.hpp>

namespace bide {

class JobEngine;
struct JobEntry;
class SchedulerWait;

/// What goes to the store: records gather while a batch is being written, and go together with the next (group commit).
/// Whoever has to wait for what was added so far leaves word, and is told, in the order of the words, when it is kept.
///
/// Runs: a green thread while there is something to write, which a cancel does not reach.
class JobJournal {
 public:
  JobJournal(JobEngine& engine, JobStore* store) : engine_(engine), store_(store) {}

  bool durable() const { return store_ != nullptr; }
  /// Throws: std::bad_alloc, and nothing was added.
  void add(JobRecord record);
  /// Begins to write, if it has not and there is something. Without room for a thread: asks the engine to come again.
  void go_on();
  /// JobEngine::kept(entry).
  void tell(JobEntry& entry) { words_.push_back({&entry, nullptr}); }
  /// Wakes it. In order with the entries told.
  void tell(SchedulerWait& wait) { words_.push_back({nullptr, &wait}); }
  /// Wakes it when all is kept that was added so far. Returns: false, it is.
  bool tell_when_kept(SchedulerWait& wait);
  void forget(const SchedulerWait& wait) noexcept;
  bool idle() const { return !writing_ && records_.empty(); }
  /// What the store threw. Nothing is written from then on.
  const std::exception_ptr& error() const { return error_; }

 private:
  struct Word {
    JobEntry* entry;
    SchedulerWait* wait;
  };

  class Writing;

  Task<> write_all(Writing writing);
  Task<> write_batch();
  void pass_on();
  void give_up();

  JobEngine& engine_;
  JobStore* store_;
  bool writing_ = false;
  std::exception_ptr error_;
  std::vector<JobRecord> records_;
  std::vector<Word> words_;  // for records_
  std::vector<JobRecord> in_flight_;
  std::vector<Word> words_in_flight_;
};

}  // namespace bide
