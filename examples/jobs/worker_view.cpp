#include "worker_view.hpp"

#include <bide/executor/executor.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

namespace bide_jobs {

using bide::JobFilter;
using bide::JobId;
using bide::JobStatus;
using bide::JobSummary;
using bide::PoolState;

namespace {

constexpr std::size_t most_shown = 100;  // of each list
constexpr bide::Duration state_age = std::chrono::milliseconds(250);
constexpr std::array live_statuses = {JobStatus::running, JobStatus::ready, JobStatus::retrying,
                                      JobStatus::scheduled, JobStatus::blocked};

}  // namespace

void WorkerView::changed(JobId id) {
  newest_ = std::max(newest_, id);
  state_.clear();
}

Json WorkerView::jobs(const JobFilter& filter) {
  Json list = Json::array();
  for (const JobSummary& job : scheduler_.list(filter)) {
    newest_ = std::max(newest_, job.id);
    list.push_back(job_json(scheduler_, job, Texts::brief));
  }
  return list;
}

/// By status, so that a long queue does not hide what runs; of what is ready those that go next.
Json WorkerView::live() {
  Json list = Json::array();
  JobFilter filter;
  filter.limit = most_shown;
  for (JobStatus status : live_statuses) {
    filter.status = status;
    filter.order = status == JobStatus::ready ? JobFilter::Order::urgency : JobFilter::Order::id;
    for (Json& job : jobs(filter)) list.push_back(std::move(job));
  }
  return list;
}

/// Newest first.
Json WorkerView::decisions() {
  Json list = Json::array();
  const std::vector<bide::Decision> all = scheduler_.decisions();
  for (auto decision = all.rbegin(); decision != all.rend() && list.size() < most_shown; ++decision) {
    newest_ = std::max(newest_, decision->winner.id);
    list.push_back(decision_json(scheduler_, *decision));
  }
  return list;
}

/// Those that have ended, newest first, of the latest ids.
Json WorkerView::recent() {
  constexpr JobId looked_back = 500;
  JobFilter filter;
  filter.after = newest_ > looked_back ? newest_ - looked_back : 0;
  std::vector<JobSummary> ended = scheduler_.list(filter);
  std::erase_if(ended, [](const JobSummary& job) { return !bide::is_ended(job.status); });
  std::sort(ended.begin(), ended.end(), [](const JobSummary& a, const JobSummary& b) {
    return a.ended != b.ended ? a.ended > b.ended : a.id > b.id;
  });
  if (ended.size() > most_shown) ended.resize(most_shown);
  Json list = Json::array();
  for (const JobSummary& job : ended) list.push_back(job_json(scheduler_, job, Texts::brief));
  return list;
}

Json WorkerView::recurring() const {
  Json list = Json::array();
  for (const bide::RecurringState& one : scheduler_.recurring())
    list.push_back(recurring_json(scheduler_, one, Texts::brief));
  return list;
}

const std::string& WorkerView::state() {
  if (!state_.empty() && bide::subtract_saturating(bide::now(), state_at_) < state_age) return state_;
  state_at_ = bide::now();
  Json json;
  json["now"] = scheduler_.wall_time(state_at_) / 1'000'000;
  json["pools"] = Json::array();
  for (const PoolState& pool : scheduler_.pools()) json["pools"].push_back(pool_json(pool));
  json["live"] = live();
  JobFilter due;
  due.limit = most_shown;
  due.order = JobFilter::Order::deadline;
  json["deadlines"] = jobs(due);
  json["decisions"] = decisions();
  json["recent"] = recent();
  const std::vector<JobSummary> letters = scheduler_.dead_letters();
  json["dead_letter_count"] = letters.size();
  json["dead_letters"] = Json::array();
  for (auto letter = letters.rbegin(); letter != letters.rend() && json["dead_letters"].size() < most_shown;
       ++letter)
    json["dead_letters"].push_back(job_json(scheduler_, *letter, Texts::brief));
  json["recurring"] = recurring();
  state_ = json_line(json);
  return state_;
}

}  // namespace bide_jobs
