#pragma once

#include <concepts>
#include <coroutine>
#include <optional>
#include <source_location>
#include <string>
#include <utility>

#include <bide/executor/jobs/job_context.hpp>
#include <bide/executor/jobs/job_outcome.hpp>
#include <bide/executor/wait.hpp>

namespace bide {

struct JobEntry;

/// A submitted job, as whoever asks sees it: to wait for its end, to cancel it, to ask how it stands.
///
///     JobHandle handle = co_await scheduler.submit(Job(resize, 200));
///     JobResult result = co_await handle;
///
/// Copies name the same job; any number of threads may await it, also after its end. Dropping it changes nothing for
/// the job. It may outlive the scheduler; a job that was live then ends as cancelled.
/// Use: on the executor's OS thread.
class JobHandle {
 public:
  class End;

  JobHandle(const JobHandle& other) noexcept;
  JobHandle(JobHandle&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  JobHandle& operator=(JobHandle other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~JobHandle();

  JobId id() const;
  JobStatus status() const;
  bool ended() const { return is_ended(status()); }
  /// Attempts begun.
  std::uint32_t attempts() const;
  /// A worker is held for its fixed start; false: its time is too full already, it may start late.
  bool reserved() const;

  /// Cancels the job: one that waits ends now, one that runs when its thread has. Returns: false, it has ended.
  bool cancel();

  /// How it ended; nothing while it is live.
  std::optional<JobResult> result() const;

  /// `co_await handle`: how the job ended.
  ///
  /// Suspends: unless it has ended. Cancellation point: the job goes on.
  /// Throws:   Cancelled, of the awaiting thread; what the store threw, if it failed before it had the end. A job
  ///           that fails is a result.
  End operator co_await() const;

 private:
  friend class JobEngine;
  friend class SubmitJob;
  struct Held {};  // it has been counted
  explicit JobHandle(JobEntry& entry) noexcept;
  JobHandle(JobEntry& entry, Held) noexcept : entry_(&entry) {}

  JobEntry* entry_;
};

/// The wait for a job to end.
class [[nodiscard]] JobHandle::End final : public Wait {
 public:
  explicit End(JobHandle handle, std::source_location where = std::source_location::current())
      : Wait(where), handle_(std::move(handle)) {}

  bool await_ready() { return enter() || handle_.ended(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
    link();
  }
  JobResult await_resume() const;

  void withdraw() noexcept override;
  std::string describe() const override;
  std::string remedy() const override { return "end it"; }

 private:
  friend class JobEngine;
  void link();
  void wake_up() { wake(); }

  JobHandle handle_;
  End* next_ = nullptr;  // of those that wait for the same job, as they came
};

inline JobHandle::End JobHandle::operator co_await() const { return End(*this); }

}  // namespace bide
