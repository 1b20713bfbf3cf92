#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include <bide/executor/jobs/job_store.hpp>

namespace bide {

/// Keeps records in memory, as a disk would over processes. It can fail from some batch on.
class MemoryStore final : public JobStore {
 public:
  StoredState load() override {
    StoredState state;
    for (const JobRecord& record : records) apply(state, record);
    return state;
  }
  void write(std::span<const JobRecord> batch) override {
    if (++batches > fail_after) throw std::runtime_error("the disk is full");
    records.insert(records.end(), batch.begin(), batch.end());
  }

  std::vector<JobRecord> records;
  std::size_t batches = 0;
  std::size_t fail_after = 1'000'000;

 private:
  static void apply(StoredState& state, const JobRecord& record) {
    if (record.recurring != nullptr) return apply_recurring(state, record);
    if (record.kind == JobRecord::Kind::accepted) {
      state.jobs.emplace_back().job = record.job;
      state.last_id = std::max(state.last_id, record.id);
      return;
    }
    for (std::size_t i = 0; i < state.jobs.size(); ++i) {
      StoredState::Entry& entry = state.jobs[i];
      if (entry.job.id != record.id) continue;
      if (record.kind == JobRecord::Kind::removed) {
        state.jobs.erase(state.jobs.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (record.kind == JobRecord::Kind::started) {
        entry.status = JobStatus::running;
        entry.attempts = record.attempt;
      } else if (record.kind == JobRecord::Kind::ended) {
        entry.status = record.status;
        entry.outcome = record.outcome;
        entry.next_attempt = record.next_attempt;
        if (record.outcome.kind() == JobOutcome::Kind::failure) ++entry.failed_attempts;
      } else {
        entry.status = JobStatus::ready;
        entry.failed_attempts = 0;
      }
      return;
    }
  }

  static void apply_recurring(StoredState& state, const JobRecord& record) {
    if (record.kind == JobRecord::Kind::recurs) {
      state.recurring.push_back(*record.recurring);
      return;
    }
    const auto found =
        std::find_if(state.recurring.begin(), state.recurring.end(),
                     [&](const StoredRecurring& one) { return one.name == record.recurring->name; });
    if (record.kind == JobRecord::Kind::recurs_no_more) {
      state.recurring.erase(found);
      return;
    }
    found->reached = record.at;
    if (record.id != 0) found->latest = record.id;
  }
};

}  // namespace bide
