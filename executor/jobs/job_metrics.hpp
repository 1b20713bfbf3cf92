#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <bide/executor/jobs/job_statistics.hpp>
#include <bide/executor/jobs/prometheus.hpp>

namespace bide {

/// What is true of a pool just now.
struct PoolGauges {
  std::uint64_t workers = 0;
  std::uint64_t running = 0;
  std::uint64_t cost = 0;  // of the workers so far, in millionths (AutoscalerOptions::cost_per_worker_second)
  std::array<std::uint64_t, priority_count> queued{};
  /// How long the job has been ready that has been for longest, by class: an alarm on it tells of starvation.
  std::array<Duration, priority_count> longest_wait{};
};

struct PoolMetrics {
  std::string name;
  const JobStatistics* statistics;
  PoolGauges gauges;
};

/// Appends the families bide_jobs_*: each with its samples for every pool, class and status; lengths of time as
/// histograms since the start, and as median, 90th and 99th percentile of the recent windows.
void append_metrics(PrometheusText& text, std::span<const PoolMetrics> pools, Instant now);

}  // namespace bide
