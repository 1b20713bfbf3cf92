#include <bide/executor/jobs/job_queue.hpp>

#include <algorithm>

namespace bide {

namespace {

JobEntry* entry_of(const QueueNode* node) {
  return node == nullptr ? nullptr : static_cast<JobEntry*>(const_cast<QueueNode*>(node));
}

}  // namespace

std::uint64_t JobQueue::stride_of(const std::string& tenant) const {
  const auto found = weights_.find(tenant);
  const std::uint64_t weight = found == weights_.end() ? 1 : std::max<std::uint32_t>(1, found->second);
  return std::max<std::uint64_t>(1, stride / weight);
}

RunQueue& JobQueue::queue_of(const JobEntry& entry) {
  return fair() ? tenants_.find(entry.tenant())->second.queue : queue_;
}

void JobQueue::push_fair(JobEntry& entry) {
  Tenant& tenant = tenants_[entry.tenant()];
  if (tenant.queue.empty()) tenant.pass = std::max(tenant.pass, present_);
  tenant.queue.push_in_place(entry);
  ++size_;
}

JobQueue::Tenants::iterator JobQueue::turn(Instant now) {
  auto chosen = tenants_.end();
  bool chosen_critical = false;
  for (auto it = tenants_.begin(); it != tenants_.end(); ++it) {
    const QueueNode* const head = it->second.queue.peek(now.time_since_epoch());
    if (head == nullptr) continue;
    const bool is_critical = head->priority == Priority::critical;
    if (chosen != tenants_.end() &&
        (is_critical < chosen_critical ||
         (is_critical == chosen_critical && it->second.pass >= chosen->second.pass)))
      continue;
    chosen = it;
    chosen_critical = is_critical;
  }
  return chosen;
}

JobQueue::Popped JobQueue::pop_fair(Instant now) {
  --size_;
  const auto tenant = turn(now);
  present_ = std::max(present_, tenant->second.pass);
  tenant->second.pass += stride_of(tenant->first);
  JobEntry* const entry = entry_of(tenant->second.queue.pop(now.time_since_epoch()));
  forget_idle();
  return {entry, best(now)};
}

JobEntry* JobQueue::peek(Instant now) {
  if (size_ == 0) return nullptr;
  return entry_of((fair() ? turn(now)->second.queue : queue_).peek(now.time_since_epoch()));
}

JobEntry* JobQueue::best(Instant now) {
  if (!fair()) return peek(now);
  const QueueNode* first = nullptr;
  for (auto& [name, tenant] : tenants_) {
    const QueueNode* const head = tenant.queue.peek(now.time_since_epoch());
    if (head == nullptr) continue;
    if (first == nullptr || goes_before(rank_of(*head, now.time_since_epoch(), Aging::on),
                                        rank_of(*first, now.time_since_epoch(), Aging::on)))
      first = head;
  }
  return entry_of(first);
}

void JobQueue::remove(JobEntry& entry) {
  queue_of(entry).remove(entry);
  --size_;
}

void JobQueue::rerank(JobEntry& entry, Priority priority, Urgency* urgency) {
  queue_of(entry).rerank(entry, priority, urgency);
}

void JobQueue::forget_idle() {
  // A tenant is remembered while it is ahead of its share; looked at rarely, so that a turn stays cheap.
  if (tenants_.size() < 16 || tenants_.size() < 2 * size_) return;
  std::erase_if(tenants_, [this](const auto& item) {
    return item.second.queue.empty() && item.second.pass <= present_;
  });
}

}  // namespace bide
