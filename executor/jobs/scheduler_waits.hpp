#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include <bide/executor/jobs/job.hpp>
#include <bide/executor/jobs/job_handle.hpp>
#include <bide/executor/jobs/job_scheduler.hpp>
#include <bide/executor/jobs/lease.hpp>
#include <bide/executor/wait.hpp>

namespace bide {

class JobEngine;
struct WaitList;

/// A wait for the scheduler: for room, or until the store has a record. It lives in the awaiting frame.
///
/// Most often there is nothing to wait for: what that takes is here to be inlined, and the engine is held by a wait
/// that waits alone.
class SchedulerWait : public Wait {
 public:
  void withdraw() noexcept override;
  std::string remedy() const override { return "end a job"; }

 protected:
  SchedulerWait(JobEngine& engine, std::source_location where) : Wait(where), engine_(engine) {}
  ~SchedulerWait() {
    if (holds_engine_) [[unlikely]]
      let_engine_go();
  }
  /// Returns: `now`. Else the wait begins, and the engine outlives it.
  bool is_over(bool now) {
    if (!now) [[unlikely]]
      hold_engine();
    return now;
  }
  /// What the engine refused, or the store threw. Throws: Cancelled.
  void finish_or_throw() const {
    finish();
    if (error_ != nullptr) [[unlikely]]
      std::rethrow_exception(error_);
  }

  JobEngine& engine_;
  std::exception_ptr error_;

 private:
  friend class JobEngine;
  friend class JobJournal;
  friend struct WaitList;
  void hold_engine();
  void let_engine_go() noexcept;

  bool holds_engine_ = false;
  SchedulerWait* next_ = nullptr;  // in a list of the engine
  SchedulerWait* previous_ = nullptr;
  WaitList* list_ = nullptr;
};

/// The await of JobScheduler::submit.
class [[nodiscard]] SubmitJob final : public SchedulerWait {
 public:
  /// The job stays the caller's until it is accepted.
  SubmitJob(JobEngine& engine, Job& job, std::source_location where)
      : SchedulerWait(engine, where), job_(job) {}
  SubmitJob(JobEngine& engine, std::unique_ptr<Job> job, std::source_location where)
      : SchedulerWait(engine, where), own_(std::move(job)), job_(*own_) {}
  ~SubmitJob() {
    if (entry_ != nullptr) [[unlikely]]
      let_entry_go();
  }

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
  }
  JobHandle await_resume() {
    finish_or_throw();
    return JobHandle(*std::exchange(entry_, nullptr), JobHandle::Held());
  }

  std::string describe() const override;

 private:
  friend class JobEngine;
  void let_entry_go() noexcept;

  std::unique_ptr<Job> own_;  // a copy; else null
  Job& job_;
  JobEntry* entry_ = nullptr;
  bool its_turn_ = false;  // it has waited, and nobody is before it any more
};

/// The await of JobScheduler::lease.
class [[nodiscard]] TakeLease final : public SchedulerWait {
 public:
  TakeLease(JobEngine& engine, std::string_view pool, Duration ttl, std::source_location where)
      : SchedulerWait(engine, where), pool_(pool), ttl_(ttl) {}
  ~TakeLease() {
    if (holds_entry_) [[unlikely]]
      let_entry_go();
  }

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
  }
  std::optional<Lease> await_resume();

  std::string describe() const override { return "the store to keep an attempt"; }

 private:
  friend class JobEngine;
  void let_entry_go() noexcept;

  std::string_view pool_;
  Duration ttl_;
  JobEntry* entry_ = nullptr;
  bool holds_entry_ = false;  // while the store writes: else await_resume follows at once
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
              std::source_location where)
      : SchedulerWait(engine, where), id_(id), attempt_(attempt), outcome_(std::move(outcome)) {}

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
  }
  Reported await_resume() {
    finish_or_throw();
    return answer_;
  }

  std::string describe() const override { return "the store to keep an outcome"; }

 private:
  friend class JobEngine;
  JobId id_;
  std::uint32_t attempt_;
  JobOutcome outcome_;
  Reported answer_ = Reported::accepted;
};

inline SubmitJob JobScheduler::submit(Job&& job, std::source_location where) {
  return SubmitJob(*engine_, job, where);
}
inline SubmitJob JobScheduler::submit(const Job& job, std::source_location where) {
  return SubmitJob(*engine_, std::make_unique<Job>(job), where);
}
inline TakeLease JobScheduler::lease(std::string_view pool, Duration ttl, std::source_location where) {
  return TakeLease(*engine_, pool, ttl, where);
}
inline ReportLease JobScheduler::report(JobId id, std::uint32_t attempt, JobOutcome outcome,
                                        std::source_location where) {
  return ReportLease(*engine_, id, attempt, std::move(outcome), where);
}
inline AwaitKept JobScheduler::kept(std::source_location where) { return AwaitKept(*engine_, where); }

}  // namespace bide
