// Edges between jobs: who waits for whom, circles, what an end sets free or skips, and urgency that goes up the edges.

#include <algorithm>
#include <set>
#include <utility>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

namespace {

std::string name_of(const JobEntry& entry) {
  if (entry.extras != nullptr && !entry.extras->key.empty()) return entry.extras->key;
  return std::to_string(entry.id);
}

std::string name_of(const Dependency& dependency) {
  return dependency.key.empty() ? std::to_string(dependency.id) : "'" + dependency.key + "'";
}

}  // namespace

bool JobEngine::satisfied(Dependency::On on, JobStatus end) {
  switch (on) {
    case Dependency::On::success:
      return end == JobStatus::succeeded;
    case Dependency::On::completion:
      return true;
    case Dependency::On::failure:
      return end == JobStatus::failed || end == JobStatus::dead_lettered;
  }
  return false;
}

JobEntry* JobEngine::find_parent(const Dependency& dependency) const {
  return dependency.key.empty() ? table_.find(dependency.id) : table_.find_key(dependency.key);
}

bool JobEngine::blocked(const JobEntry& entry) const {
  return entry.extras != nullptr && !(entry.extras->parents.empty() && entry.extras->awaited.empty());
}

void JobEngine::check_parents(const Job& job, const JobPool& pool) const {
  for (const Dependency& dependency : job.after) {
    if (!job.key.empty() && dependency.key == job.key)
      throw JobRefused(JobRefused::Reason::cycle, "a circle of dependencies: " + job.key + " -> " + job.key);
    if (find_parent(dependency) != nullptr) continue;
    const UnknownParent policy = pool.options.unknown_parent;
    if (policy == UnknownParent::refuse || (policy == UnknownParent::wait && dependency.key.empty()))
      throw JobRefused(JobRefused::Reason::unknown_parent,
                       "no job " + name_of(dependency) + " to depend on is known");
  }
}

void JobEngine::link_parents(JobEntry& entry) {
  JobExtras& more = *entry.extras;
  const UnknownParent policy = entry.pool->options.unknown_parent;
  more.parents.reserve(more.after.size());  // an edge is known at both ends, or at none
  for (const Dependency& dependency : more.after) {
    JobEntry* const parent = find_parent(dependency);
    if (parent == nullptr) {
      if (policy == UnknownParent::wait && !dependency.key.empty()) {
        more.awaited.push_back(dependency.key);
        awaiting_[dependency.key].push_back(&entry);
      } else if (policy == UnknownParent::skip) {
        more.doomed = true;
      }
    } else if (is_live(parent->status)) {
      parent->more().children.push_back({&entry, dependency.on});
      more.parents.push_back(parent);
    } else if (!satisfied(dependency.on, parent->status)) {
      more.doomed = true;
    }
  }
}

/// Those that waited for a job with this key to come wait for this one from now on.
void JobEngine::link_awaiting(JobEntry& parent) {
  if (parent.extras->key.empty() || awaiting_.empty()) return;
  const auto found = awaiting_.find(parent.extras->key);
  if (found == awaiting_.end()) return;
  std::size_t edges = 0;
  for (const JobEntry* child : found->second) {
    JobExtras& more = *child->extras;
    more.parents.reserve(more.parents.size() + more.after.size());
    edges += more.after.size();
  }
  parent.extras->children.reserve(edges);  // from here on no edge is lost for want of memory
  const std::vector<JobEntry*> children = std::move(found->second);
  awaiting_.erase(found);
  for (JobEntry* child : children) {
    JobExtras& more = *child->extras;
    const auto name = std::find(more.awaited.begin(), more.awaited.end(), parent.extras->key);
    if (name == more.awaited.end()) continue;  // it names the key twice, and was linked twice
    for (const Dependency& dependency : more.after) {
      if (dependency.key != parent.extras->key) continue;
      parent.extras->children.push_back({child, dependency.on});
      more.parents.push_back(&parent);
    }
    std::erase(more.awaited, parent.extras->key);
    lift_parents_of(*child);
  }
}

/// The opposite, for a job that has not come after all.
void JobEngine::unlink_children(JobEntry& parent) {
  for (const auto& [child, on] : std::exchange(parent.extras->children, {})) {
    std::erase(child->extras->parents, &parent);
    std::vector<std::string>& awaited = child->extras->awaited;
    if (std::find(awaited.begin(), awaited.end(), parent.extras->key) != awaited.end()) continue;
    awaited.push_back(parent.extras->key);
    awaiting_[parent.extras->key].push_back(child);
  }
}

/// A job can come into a circle only by its key: one that it waits for waits for a job of that key, yet to come.
void JobEngine::refuse_cycle(const Job& job) const {
  const auto waiting = awaiting_.find(job.key);
  if (waiting == awaiting_.end()) return;
  struct Step {
    const JobEntry* entry;
    std::size_t from;  // the step that led here
  };
  std::vector<Step> steps;
  std::set<JobId> seen;
  const auto go = [&](const JobEntry* entry, std::size_t from) {
    if (entry != nullptr && is_live(entry->status) && seen.insert(entry->id).second)
      steps.push_back({entry, from});
  };
  constexpr std::size_t start = ~std::size_t{0};
  for (const Dependency& dependency : job.after) go(find_parent(dependency), start);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const JobEntry& entry = *steps[i].entry;
    if (std::find(waiting->second.begin(), waiting->second.end(), &entry) != waiting->second.end()) {
      std::string way = name_of(entry) + " -> " + job.key;
      for (std::size_t at = steps[i].from; at != start; at = steps[at].from)
        way = name_of(*steps[at].entry) + " -> " + way;
      throw JobRefused(JobRefused::Reason::cycle, "a circle of dependencies: " + job.key + " -> " + way);
    }
    if (entry.extras == nullptr) continue;
    for (const JobEntry* parent : entry.extras->parents) go(parent, i);
  }
}

// ---- ends

void JobEngine::parent_ended(JobEntry& parent) {
  if (parent.extras == nullptr || parent.extras->children.empty()) return;
  const std::vector<JobExtras::Child> children = std::exchange(parent.extras->children, {});
  for (const auto& [child, on] : children) {
    std::vector<JobEntry*>& parents = child->extras->parents;
    const auto edge = std::find(parents.begin(), parents.end(), &parent);
    if (edge == parents.end()) continue;  // it has ended meanwhile, by an earlier edge
    parents.erase(edge);
    if (!satisfied(on, parent.status)) {
      child->extras->doomed = true;
      if (child->store == JobEntry::Store::idle)
        end_waiting(*child, JobStatus::skipped,
                    "job " + name_of(parent) + " ended as " + to_string(parent.status));
    } else if (!blocked(*child) && child->store == JobEntry::Store::idle) {
      enter_unblocked(*child);
    }
  }
}

void JobEngine::unlink_parents(JobEntry& entry) {
  if (entry.extras == nullptr) return;
  for (const std::string& key : std::exchange(entry.extras->awaited, {})) {
    const auto found = awaiting_.find(key);
    if (found == awaiting_.end()) continue;
    std::erase(found->second, &entry);
    if (found->second.empty()) awaiting_.erase(found);
  }
  const std::vector<JobEntry*> parents = std::exchange(entry.extras->parents, {});
  for (JobEntry* parent : parents) {
    std::erase_if(parent->extras->children,
                  [&](const JobExtras::Child& child) { return child.entry == &entry; });
    if (rank_again(*parent)) lift_parents_of(*parent);
  }
}

// ---- inheritance

/// A job that others wait for counts as the highest of their classes, and has to start so early that it has ended by the
/// earliest of their latest starts.
/// Returns: whether that has changed.
bool JobEngine::rank_again(JobEntry& entry) {
  Priority priority = entry.own_priority;
  std::chrono::nanoseconds latest = entry.own.latest_start;
  if (entry.extras != nullptr) {
    for (const JobExtras::Child& child : entry.extras->children) {
      priority = std::max(priority, child.entry->priority);
      const std::chrono::nanoseconds of_child = child.entry->urgency->latest_start;
      latest = std::min(latest, urgency::latest_start(of_child, entry.estimate));
    }
  }
  if (priority == entry.priority && latest == entry.urgency->latest_start) return false;
  Urgency urgency = entry.own;
  urgency.latest_start = latest;
  set_rank(entry, priority, urgency);
  return true;
}

/// Throws: std::bad_alloc; it is queued as it was then.
void JobEngine::set_rank(JobEntry& entry, Priority priority, const Urgency& urgency) {
  entry.more();
  const auto give = [&entry](Priority given, const Urgency& with) {
    entry.priority = given;
    entry.urgency = &entry.own;
    if (with.latest_start == entry.own.latest_start) return;
    entry.extras->lifted = with;
    entry.urgency = &entry.extras->lifted;
  };
  if (!entry.queued()) return give(priority, urgency);
  JobResource* const parked = entry.extras->parked;
  const auto put_back = [&entry, parked] {
    if (parked != nullptr)
      parked->park(entry);
    else
      entry.pool->queue.push(entry);
  };
  const Priority priority_before = entry.priority;
  const Urgency urgency_before = *entry.urgency;
  if (parked != nullptr)
    parked->unpark(entry);
  else
    entry.pool->queue.remove(entry);
  give(priority, urgency);
  try {
    put_back();
  } catch (...) {  // its old place has just become free
    give(priority_before, urgency_before);
    put_back();
    throw;
  }
}

void JobEngine::lift_parents_of(JobEntry& entry) {
  std::vector<JobEntry*> changed{&entry};
  while (!changed.empty()) {
    JobEntry* const child = changed.back();
    changed.pop_back();
    if (child->extras == nullptr) continue;
    for (JobEntry* parent : child->extras->parents)
      if (rank_again(*parent)) changed.push_back(parent);
  }
}

}  // namespace bide
