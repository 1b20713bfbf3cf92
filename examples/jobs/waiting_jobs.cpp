#include "waiting_jobs.hpp"

#include <algorithm>

namespace bide_jobs {

WaitingJobs::WaitingJobs(Policy policy)
    : policy_(policy),
      queue_({.promote_every = 0, .aging = policy == Policy::urgency ? bide::Aging::on : bide::Aging::off}) {}

WaitingJobs::Place& WaitingJobs::free_place() {
  if (free_places_.empty()) return places_.emplace_back();
  Place* place = free_places_.back();
  free_places_.pop_back();
  return *place;
}

std::uint64_t WaitingJobs::push(std::uint32_t index, const Job& job) {
  if (policy_ == Policy::edf) {
    by_latest_start_.push_back({latest_start_of(job), job.priority, index, next_sequence_});
    std::push_heap(by_latest_start_.begin(), by_latest_start_.end(), goes_after);
    return next_sequence_++;
  }
  Place& place = free_place();
  place.job = index;
  place.priority = policy_ == Policy::fifo ? Priority::normal : job.priority;
  place.urgency = nullptr;
  if (policy_ == Policy::urgency) {
    Nanoseconds estimate = job.hint.value_or(bide::urgency::default_estimate);
    place.moving = {.latest_start = latest_start_of(job),
                    .horizon = bide::urgency::horizon(estimate),
                    .waiting_since = job.submit};
    place.urgency = &place.moving;
  }
  queue_.push(place);
  return place.sequence;
}

std::uint32_t WaitingJobs::pop(Nanoseconds now) {
  bide::require(!empty(), "a job is taken from an empty queue");
  if (policy_ == Policy::edf) {
    std::pop_heap(by_latest_start_.begin(), by_latest_start_.end(), goes_after);
    std::uint32_t job = by_latest_start_.back().job;
    by_latest_start_.pop_back();
    return job;
  }
  auto* place = static_cast<Place*>(queue_.pop(now));
  free_places_.push_back(place);
  return place->job;
}

std::optional<std::uint32_t> WaitingJobs::peek(Nanoseconds now) const {
  if (empty()) return std::nullopt;
  if (policy_ == Policy::edf) return by_latest_start_.front().job;
  return static_cast<const Place*>(queue_.peek(now))->job;
}

/// Heap order of the standard library: the greatest is in front, so the first to go has to be the greatest.
bool WaitingJobs::goes_after(const LatestStart& left, const LatestStart& right) {
  if (left.latest_start != right.latest_start) return left.latest_start > right.latest_start;
  if (left.priority != right.priority) return left.priority < right.priority;
  return left.sequence > right.sequence;
}

}  // namespace bide_jobs
