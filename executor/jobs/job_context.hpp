#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <bide/executor/executor.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// From 1 in submit order, below the prefix of JobSchedulerOptions: shard in the top 8 bits, epoch in the next 16.
using JobId = std::uint64_t;

/// What an attempt knows of its job. Given to the work by reference, good until the attempt has ended.
///
/// A cancel of the job, and the end of its timeout, cancel the attempt's green thread: its next wait throws
/// Cancelled.
class JobContext {
 public:
  JobContext(JobId id, std::uint32_t attempt, std::optional<Instant> deadline, const std::string& payload)
      : id_(id), attempt_(attempt), deadline_(deadline), payload_(payload) {}
  JobContext(const JobContext&) = delete;
  JobContext& operator=(const JobContext&) = delete;

  JobId id() const { return id_; }
  /// From 1. Grows with every attempt that was ever begun, also over restarts: who writes elsewhere can refuse an
  /// attempt with a smaller number than the last that it saw.
  std::uint32_t attempt() const { return attempt_; }
  /// The job's, not the attempt's: work that is late may choose a cheaper way.
  std::optional<Instant> deadline() const { return deadline_; }
  /// Until the deadline, from now; negative when it has gone by.
  std::optional<Duration> remaining() const {
    if (!deadline_) return std::nullopt;
    return subtract_saturating(*deadline_, now());
  }
  const std::string& payload() const { return payload_; }

 private:
  JobId id_;
  std::uint32_t attempt_;
  std::optional<Instant> deadline_;
  const std::string& payload_;
};

}  // namespace bide
