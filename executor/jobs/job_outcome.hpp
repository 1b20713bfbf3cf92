#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <bide/executor/jobs/job_status.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// How one attempt ended: what the work returns.
class JobOutcome {
 public:
  enum class Kind : std::uint8_t { success, failure, cancelled };
  enum class Retry : std::uint8_t { never, allowed };

  JobOutcome() = default;  ///< Success without output.
  JobOutcome(const JobOutcome&) = default;
  JobOutcome& operator=(const JobOutcome&) = default;
  // Most texts are empty, and the move of a string is a call.
  JobOutcome(JobOutcome&& other) noexcept
      : kind_(other.kind_), retry_(other.retry_), retry_after_(other.retry_after_) {
    if (!other.text_.empty()) text_ = std::move(other.text_);
  }
  JobOutcome& operator=(JobOutcome&& other) noexcept {
    kind_ = other.kind_;
    retry_ = other.retry_;
    retry_after_ = other.retry_after_;
    if (!other.text_.empty() || !text_.empty()) text_ = std::move(other.text_);
    return *this;
  }
  ~JobOutcome() = default;

  static JobOutcome success(std::string output = {}) {
    return {Kind::success, Retry::never, std::move(output)};
  }
  /// For good: the job fails, whatever its RetryPolicy says.
  static JobOutcome failure(std::string message) { return {Kind::failure, Retry::never, std::move(message)}; }
  /// Another attempt may go better: it comes if the RetryPolicy has one left, `retry_after` from now at the earliest.
  static JobOutcome retryable(std::string message, Duration retry_after = Duration::zero()) {
    return {Kind::failure, Retry::allowed, std::move(message), retry_after};
  }
  static JobOutcome cancelled(std::string message = {}) {
    return {Kind::cancelled, Retry::never, std::move(message)};
  }

  Kind kind() const { return kind_; }
  bool succeeded() const { return kind_ == Kind::success; }
  bool may_retry() const { return retry_ == Retry::allowed; }
  Duration retry_after() const { return retry_after_; }
  /// The output of a success, the message of a failure.
  const std::string& text() const { return text_; }

  friend bool operator==(const JobOutcome&, const JobOutcome&) = default;

 private:
  JobOutcome(Kind kind, Retry retry, std::string text, Duration retry_after = Duration::zero())
      : kind_(kind), retry_(retry), retry_after_(retry_after), text_(std::move(text)) {}

  Kind kind_ = Kind::success;
  Retry retry_ = Retry::never;
  Duration retry_after_{};
  std::string text_;
};

/// How a job ended: what awaiting its JobHandle gives.
struct JobResult {
  JobStatus status = JobStatus::succeeded;
  JobOutcome outcome;          ///< Of the last attempt; where there was none, its text says why.
  std::uint32_t attempts = 0;  ///< Begun.
  Instant submitted{};
  Instant started{};  ///< The last attempt; `ended` where there was none.
  Instant ended{};

  bool succeeded() const { return status == JobStatus::succeeded; }
};

}  // namespace bide
