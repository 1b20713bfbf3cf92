#include "lanes.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <utility>

namespace bide_jobs {

std::vector<LaneRange> FreeLanes::take(std::int64_t count) {
  std::vector<LaneRange> taken;
  while (count > 0 && !ranges_.empty()) {
    const auto lowest = ranges_.begin();
    const LaneRange range{lowest->first, std::min(count, lowest->second)};
    const std::int64_t left = lowest->second - range.count;
    ranges_.erase(lowest);
    if (left > 0) ranges_.emplace(range.first + range.count, left);
    taken.push_back(range);
    count -= range.count;
  }
  if (count == 0) return taken;
  if (!taken.empty() && taken.back().first + taken.back().count == fresh_) {
    taken.back().count += count;
  } else {
    taken.push_back({fresh_, count});
  }
  fresh_ += count;
  return taken;
}

void FreeLanes::give_back(const std::vector<LaneRange>& ranges) {
  for (const LaneRange& range : ranges) insert(range);
}

void FreeLanes::insert(LaneRange range) {
  const auto next = ranges_.lower_bound(range.first);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == range.first) {
      range = {before->first, before->second + range.count};
      ranges_.erase(before);
    }
  }
  if (next != ranges_.end() && range.first + range.count == next->first) {
    range.count += next->second;
    ranges_.erase(next);
  }
  ranges_.emplace(range.first, range.count);
}

std::vector<std::vector<LaneRange>> assign_lanes(const Workload& workload, const History& history) {
  using End = std::pair<Nanoseconds, std::uint32_t>;
  std::vector<std::vector<LaneRange>> lanes(workload.jobs.size());
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  FreeLanes free;
  for (const Decision& decision : history.decisions) {
    const Fate& fate = history.fates[decision.job];
    while (!running.empty() && running.top().first <= fate.started) {
      free.give_back(lanes[running.top().second]);
      running.pop();
    }
    lanes[decision.job] = free.take(workload.jobs[decision.job].slots);
    running.emplace(fate.ended, decision.job);
  }
  return lanes;
}

}  // namespace bide_jobs
