#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <string>

#include <bide/executor/jobs/job.hpp>
#include <bide/executor/jobs/job_handle.hpp>
#include <bide/executor/jobs/lease.hpp>
#include <bide/executor/wait.hpp>

namespace bide {

class JobEngine;
struct WaitList;

/// A wait for the scheduler: for room, or until the store has a record. It lives in the awaiting frame.
class SchedulerWait : public Wait {
 public:
  void withdraw() noexcept override;
  std::string remedy() const override { return "end a job"; }

 protected:
  SchedulerWait(JobEngine& engine, std::source_location where);
  ~SchedulerWait();
  /// What the engine refused, or the store threw. Throws: Cancelled.
  void finish_or_throw() const;

  JobEngine& engine_;
  std::exception_ptr error_;

 private:
  friend class JobEngine;
  friend class JobJournal;
  friend struct WaitList;
  SchedulerWait* next_ = nullptr;  // in a list of the engine
  SchedulerWait* previous_ = nullptr;
  WaitList* list_ = nullptr;
};

/// The await of JobScheduler::submit.
class [[nodiscard]] SubmitJob final : public SchedulerWait {
 public:
  /// The job stays the caller's until it is accepted.
  SubmitJob(JobEngine& engine, Job& job, std::source_location where);
  SubmitJob(JobEngine& engine, std::unique_ptr<Job> job, std::source_location where);
  ~SubmitJob();

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
  }
  JobHandle await_resume();

  std::string describe() const override;

 private:
  friend class JobEngine;
  std::unique_ptr<Job> own_;  // a copy; else null
  Job& job_;
  JobEntry* entry_ = nullptr;
  bool its_turn_ = false;  // it has waited, and nobody is before it any more
};

/// The await of JobScheduler::lease.
class [[nodiscard]] TakeLease final : public SchedulerWait {
 public:
  TakeLease(JobEngine& engine, std::string_view pool, Duration ttl, std::source_location where);
  ~TakeLease();

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
  }
  std::optional<Lease> await_resume();

  std::string describe() const override { return "the store to keep an attempt"; }

 private:
  friend class JobEngine;
  std::string_view pool_;
  Duration ttl_;
  JobEntry* entry_ = nullptr;
};

/// The await of JobScheduler::kept.
class [[nodiscard]] AwaitKept final : public SchedulerWait {
 public:
  AwaitKept(JobEngine& engine, std::source_location where) : SchedulerWait(engine, where) {}

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
  }
  void await_resume() { finish_or_throw(); }

  std::string describe() const override { return "the store"; }
};

/// The await of JobScheduler::report.
class [[nodiscard]] ReportLease final : public SchedulerWait {
 public:
  ReportLease(JobEngine& engine, JobId id, std::uint32_t attempt, JobOutcome&& outcome,
              std::source_location where);
  ~ReportLease();

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
  }
  Reported await_resume();

  std::string describe() const override { return "the store to keep an outcome"; }

 private:
  friend class JobEngine;
  JobId id_;
  std::uint32_t attempt_;
  JobOutcome outcome_;
  Reported answer_ = Reported::accepted;
};

}  // namespace bide
