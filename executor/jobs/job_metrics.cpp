#include <bide/executor/jobs/job_metrics.hpp>

namespace bide {

namespace {

using Type = PrometheusText::Type;

template <class Function>
void for_each_class(std::span<const PoolMetrics> pools, Function function) {
  for (const PoolMetrics& pool : pools) {
    for (std::size_t index = priority_count; index-- > 0;) function(pool, static_cast<Priority>(index));
  }
}

/// One sample for each pool and class, of what it has done since the start.
template <class Value>
void totals(PrometheusText& text, std::span<const PoolMetrics> pools, Value ClassStatistics::*member) {
  for_each_class(pools, [&](const PoolMetrics& pool, Priority priority) {
    const ClassStatistics total = pool.statistics->total(priority);
    text.sample({{"pool", pool.name}, {"class", to_string(priority)}}, total.*member);
  });
}

template <class Value>
void gauges(PrometheusText& text, std::span<const PoolMetrics> pools,
            std::array<Value, priority_count> PoolGauges::*member) {
  for_each_class(pools, [&](const PoolMetrics& pool, Priority priority) {
    text.sample({{"pool", pool.name}, {"class", to_string(priority)}},
                (pool.gauges.*member)[static_cast<std::size_t>(priority)]);
  });
}

void recent(PrometheusText& text, std::span<const PoolMetrics> pools, Instant now,
            DurationHistogram ClassStatistics::*member) {
  constexpr struct {
    const char* text;
    std::uint32_t per_mille;
  } percentiles[] = {{"50", 500}, {"90", 900}, {"99", 990}};
  for_each_class(pools, [&](const PoolMetrics& pool, Priority priority) {
    const ClassStatistics statistics = pool.statistics->recent(priority, now);
    for (const auto& percentile : percentiles) {
      text.sample({{"pool", pool.name}, {"class", to_string(priority)}, {"percentile", percentile.text}},
                  (statistics.*member).quantile(percentile.per_mille));
    }
  });
}

void append_endings(PrometheusText& text, std::span<const PoolMetrics> pools) {
  text.family("bide_jobs_ended_total", Type::counter, "Jobs that ended, by how.");
  for_each_class(pools, [&](const PoolMetrics& pool, Priority priority) {
    const ClassStatistics total = pool.statistics->total(priority);
    for (std::size_t index = 0; index < job_status_count; ++index) {
      const auto status = static_cast<JobStatus>(index);
      if (!is_ended(status)) continue;
      text.sample({{"pool", pool.name}, {"class", to_string(priority)}, {"status", to_string(status)}},
                  total.ended[index]);
    }
  });
}

}  // namespace

void append_metrics(PrometheusText& text, std::span<const PoolMetrics> pools, Instant now) {
  text.family("bide_jobs_submitted_total", Type::counter, "Jobs accepted.");
  totals(text, pools, &ClassStatistics::submitted);
  text.family("bide_jobs_started_total", Type::counter, "Attempts started.");
  totals(text, pools, &ClassStatistics::started);
  append_endings(text, pools);
  text.family("bide_jobs_met_deadlines_total", Type::counter, "Jobs that succeeded by their deadline.");
  totals(text, pools, &ClassStatistics::met_deadlines);
  text.family("bide_jobs_missed_deadlines_total", Type::counter,
              "Jobs that did not succeed by their deadline.");
  totals(text, pools, &ClassStatistics::missed_deadlines);

  text.family("bide_jobs_wait_seconds", Type::histogram, "From ready to start, of each attempt.");
  totals(text, pools, &ClassStatistics::wait);
  text.family("bide_jobs_run_seconds", Type::histogram, "From start to end, of each attempt.");
  totals(text, pools, &ClassStatistics::run);
  text.family("bide_jobs_lateness_seconds", Type::histogram,
              "From the deadline to the end, of jobs that ended late.");
  totals(text, pools, &ClassStatistics::lateness);
  text.family("bide_jobs_recent_wait_seconds", Type::gauge,
              "Percentiles of the wait in the last few minutes.");
  recent(text, pools, now, &ClassStatistics::wait);
  text.family("bide_jobs_recent_run_seconds", Type::gauge,
              "Percentiles of the run time in the last few minutes.");
  recent(text, pools, now, &ClassStatistics::run);

  text.family("bide_jobs_queued", Type::gauge, "Jobs that are ready and wait for a worker.");
  gauges(text, pools, &PoolGauges::queued);
  text.family("bide_jobs_longest_wait_seconds", Type::gauge,
              "The wait of the job that is ready for longest.");
  gauges(text, pools, &PoolGauges::longest_wait);
  text.family("bide_jobs_running", Type::gauge, "Attempts that run.");
  for (const PoolMetrics& pool : pools) text.sample({{"pool", pool.name}}, pool.gauges.running);
  text.family("bide_jobs_workers", Type::gauge, "Workers of the pool.");
  for (const PoolMetrics& pool : pools) text.sample({{"pool", pool.name}}, pool.gauges.workers);
  text.family("bide_jobs_cost_millionths_total", Type::counter,
              "What the workers of a pool that scales have cost.");
  for (const PoolMetrics& pool : pools) text.sample({{"pool", pool.name}}, pool.gauges.cost);
}

}  // namespace bide
