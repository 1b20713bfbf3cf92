#include "dependents.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace bide_jobs {
namespace {

bool satisfies(Dependents::Ending ending, After::On on) {
  if (on == After::On::completion) return true;
  return ending == (on == After::On::success ? Dependents::Ending::success : Dependents::Ending::failure);
}

}  // namespace

Dependents::Dependents(const std::vector<Job>& jobs) : states_(jobs.size()), children_(jobs.size()) {
  const bool some = std::any_of(jobs.begin(), jobs.end(), [](const Job& job) { return !job.after.empty(); });
  if (!some) return;
  std::unordered_map<std::size_t, std::uint32_t> at_line;  // only looked up
  for (std::uint32_t i = 0; i < jobs.size(); ++i) at_line.emplace(jobs[i].line, i);
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    for (const After& after : jobs[i].after) children_[at_line.at(after.line)].push_back({i, after.on});
    states_[i].unmet_count = jobs[i].after.size();
  }
}

bool Dependents::arrive(std::uint32_t job) {
  states_[job].arrived = true;
  return states_[job].unmet_count == 0 && !states_[job].skipped;
}

Dependents::Freed Dependents::end(std::uint32_t job, Ending ending) {
  Freed freed;
  std::vector<std::pair<std::uint32_t, Ending>> ended;
  ended.emplace_back(job, ending);
  while (!ended.empty()) {
    const auto [parent, how] = ended.back();
    ended.pop_back();
    for (const Edge& edge : children_[parent]) {
      State& child = states_[edge.child];
      if (child.skipped) continue;
      if (!satisfies(how, edge.on)) {
        child.skipped = true;
        freed.skipped.push_back(edge.child);
        ended.emplace_back(edge.child, Ending::skipped);
      } else if (--child.unmet_count == 0 && child.arrived) {
        freed.ready.push_back(edge.child);
      }
    }
  }
  std::sort(freed.ready.begin(), freed.ready.end());
  std::sort(freed.skipped.begin(), freed.skipped.end());
  return freed;
}

}  // namespace bide_jobs
