#include <bide/queue/run_queue.hpp>

#include <algorithm>
#include <utility>

namespace bide {

namespace {

/// Where an entry of a lane's heap says that it moved to.
constexpr auto tell_node = [](const auto& entry, std::uint32_t position) { entry.node->position = position; };

bool goes_by_deadline(const Urgency* urgency) {
  return urgency != nullptr && urgency->latest_start != Urgency::none;
}

}  // namespace

RunQueue::RunQueue(Options options) : pops_until_promotion_(options.promote_every), options_(options) {
  reasons_to_compare_ = always_compares() ? 1 : 0;
}

RunQueue::RunQueue(RunQueue&& other) noexcept : RunQueue(other.options_) { swap(other); }

RunQueue& RunQueue::operator=(RunQueue&& other) noexcept {
  RunQueue(std::move(other)).swap(*this);
  return *this;
}

void RunQueue::swap(RunQueue& other) noexcept {
  std::swap(next_sequence_, other.next_sequence_);
  std::swap(occupied_, other.occupied_);
  std::swap(reasons_to_compare_, other.reasons_to_compare_);
  std::swap(rings_, other.rings_);
  std::swap(late_, other.late_);
  std::swap(deadline_, other.deadline_);
  std::swap(by_age_, other.by_age_);
  std::swap(pops_until_promotion_, other.pops_until_promotion_);
  std::swap(options_, other.options_);
}

// ---- choosing

QueueNode* RunQueue::plain_head(std::size_t of_class) const {
  QueueNode* const late = late_[of_class].empty() ? nullptr : late_[of_class].top().node;
  if (rings_[of_class].empty()) return late;
  QueueNode* const front = rings_[of_class].front();
  return late != nullptr && late->sequence < front->sequence ? late : front;
}

QueueNode* RunQueue::best(std::chrono::nanoseconds now) const {
  QueueNode* first = nullptr;
  Rank first_rank;
  const auto consider = [&](QueueNode* node) {
    const Rank rank = rank_of(*node, now, options_.aging);
    if (first != nullptr && !goes_before(rank, first_rank)) return;
    first = node;
    first_rank = rank;
  };
  for (std::size_t c = priority_count; c-- != 0;) {
    // From the highest class down: one that can at most draw level loses the tie, and need not be looked at.
    const urgency::Score most = urgency::base(static_cast<Priority>(c)) +
                                (options_.aging == Aging::on ? urgency::aging_cap : 0) +
                                (deadline_[c].empty() ? 0 : urgency::urgency_cap);
    if (first != nullptr && first_rank.score >= most) continue;
    if (QueueNode* const node = plain_head(c)) consider(node);
    if (!deadline_[c].empty()) consider(deadline_[c].top().node);
  }
  return first;
}

RunQueue::Heads RunQueue::heads(std::chrono::nanoseconds now) const {
  Heads heads;
  const auto add = [&](const QueueNode* node) {
    heads.entries[heads.count++] = {node, rank_of(*node, now, options_.aging).score};
  };
  for (std::size_t c = 0; c != priority_count; ++c) {
    if (const QueueNode* const node = plain_head(c)) add(node);
    if (!deadline_[c].empty()) add(deadline_[c].top().node);
  }
  std::sort(heads.entries.data(), heads.entries.data() + heads.count,
            [&](const auto& left, const auto& right) {
              return goes_before(rank_of(*left.node, now, options_.aging),
                                 rank_of(*right.node, now, options_.aging));
            });
  return heads;
}

void RunQueue::equals(std::chrono::nanoseconds now, std::vector<QueueNode*>& out) const {
  out.clear();
  const QueueNode* const first = best(now);
  if (first == nullptr) return;
  const std::size_t c = index(first->priority);
  const auto add = [&](QueueNode* node) {
    if (goes_by_deadline(node->urgency) == goes_by_deadline(first->urgency) &&
        (!goes_by_deadline(first->urgency) || node->urgency->latest_start == first->urgency->latest_start)) {
      out.push_back(node);
    }
  };
  rings_[c].for_each(add);
  late_[c].for_each([&](const LateEntry& entry) { add(entry.node); });
  deadline_[c].for_each([&](const DeadlineEntry& entry) { add(entry.node); });
  std::sort(out.begin(), out.end(),
            [](const auto* left, const auto* right) { return left->sequence < right->sequence; });
}

QueueNode* RunQueue::pop_best(std::chrono::nanoseconds now) {
  QueueNode* const node = best(now);
  if (node == nullptr) return nullptr;
  if (pops_until_promotion_ == 1) {
    // Room for the promoted node comes first: a pop that fails here has taken nothing out.
    const Urgency some_deadline{.latest_start = std::chrono::nanoseconds::zero()};
    for (const Priority to : {Priority::normal, Priority::high}) {
      make_room(to, nullptr);
      make_room(to, &some_deadline);
    }
  }
  unlink(*node);
  if (options_.promote_every != 0 && --pops_until_promotion_ == 0) {
    promote();
    pops_until_promotion_ = options_.promote_every;
  }
  return node;
}

// ---- promotion

QueueNode* RunQueue::oldest_promotable() const {
  QueueNode* oldest = by_age_.empty() ? nullptr : by_age_.top().node;
  for (const Priority priority : {Priority::low, Priority::normal}) {
    QueueNode* const node = plain_head(index(priority));
    if (node != nullptr && (oldest == nullptr || node->sequence < oldest->sequence)) oldest = node;
  }
  return oldest;
}

void RunQueue::promote() {
  QueueNode* const node = oldest_promotable();
  if (node == nullptr) return;
  unlink(*node);
  node->priority = static_cast<Priority>(index(node->priority) + 1);
  link(*node);
}

// ---- placing

void RunQueue::push_with_care(QueueNode& node) {
  require(!node.queued(), "a node is pushed that is queued already");
  if (!node.has_deadline()) {
    rings_[index(node.priority)].make_room();
    return push_plain(node);
  }
  make_room(node.priority, node.urgency);
  node.sequence = next_sequence_++;
  link(node);
}

void RunQueue::push_in_place(QueueNode& node) {
  require(!node.queued(), "a node is pushed that is queued already");
  make_room(node.priority, node.urgency);
  link(node);
}

void RunQueue::rerank(QueueNode& node, Priority priority, Urgency* urgency) {
  const bool stays = node.lane == Lane::none ||
                     (priority == node.priority && node.lane != Lane::deadline && !goes_by_deadline(urgency));
  if (!stays) {
    make_room(priority, urgency);
    unlink(node);
  }
  node.priority = priority;
  node.urgency = urgency;
  if (!stays) link(node);
}

void RunQueue::remove(QueueNode& node) {
  require(node.queued(), "a node is removed that is not queued");
  unlink(node);
}

void RunQueue::make_room(Priority priority, const Urgency* urgency) {
  const std::size_t c = index(priority);
  if (goes_by_deadline(urgency)) {
    deadline_[c].make_room();
    if (options_.promote_every != 0) by_age_.make_room();
  } else {
    rings_[c].make_room();
    late_[c].make_room();
  }
}

void RunQueue::link(QueueNode& node) {
  const std::size_t c = index(node.priority);
  if (node.has_deadline()) {
    node.lane = Lane::deadline;
    deadline_[c].push({node.urgency->latest_start, &node, 0}, tell_node);
    link_by_age(node);
    ++reasons_to_compare_;
  } else if (rings_[c].empty() || rings_[c].back()->sequence < node.sequence) {
    node.lane = Lane::fifo;
    rings_[c].push_back(node);
    note_occupied(node.priority);
  } else {
    node.lane = Lane::late;
    late_[c].push({node.sequence, &node}, tell_node);
    ++reasons_to_compare_;
  }
}

void RunQueue::unlink(QueueNode& node) {
  const std::size_t c = index(node.priority);
  switch (node.lane) {
    case Lane::none:
      return;
    case Lane::fifo:
      if (rings_[c].front() == &node)
        rings_[c].pop_front();
      else
        rings_[c].remove(node);
      break;
    case Lane::late:
      late_[c].erase(node.position, tell_node);
      --reasons_to_compare_;
      break;
    case Lane::deadline:
      unlink_by_age(node);  // needs the place that the erase below gives up
      deadline_[c].erase(node.position, tell_node);
      if (!deadline_[c].empty()) __builtin_prefetch(deadline_[c].top().node);  // ranked by the next pop
      --reasons_to_compare_;
      break;
  }
  node.lane = Lane::none;
}

void RunQueue::link_by_age(QueueNode& node) {
  if (options_.promote_every == 0 || !promotable(node.priority)) return;
  by_age_.push({node.sequence, &node}, [this](const LateEntry& entry, std::uint32_t position) {
    deadline_[index(entry.node->priority)][entry.node->position].age_position = position;
  });
}

void RunQueue::unlink_by_age(const QueueNode& node) {
  if (options_.promote_every == 0 || !promotable(node.priority)) return;
  const std::uint32_t position = deadline_[index(node.priority)][node.position].age_position;
  by_age_.erase(position, [this](const LateEntry& entry, std::uint32_t place) {
    deadline_[index(entry.node->priority)][entry.node->position].age_position = place;
  });
}

// ---- the whole queue

QueueNode* RunQueue::pop_any() {
  QueueNode* node = nullptr;
  for (std::size_t c = 0; node == nullptr && c != priority_count; ++c) {
    node = plain_head(c);
    if (node == nullptr && !deadline_[c].empty()) node = deadline_[c].top().node;
  }
  if (node != nullptr) unlink(*node);
  return node;
}

void RunQueue::clear() {
  while (pop_any() != nullptr) {
  }
}

}  // namespace bide
