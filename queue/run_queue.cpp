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

bool in_deadline_lane(const QueueNode& node) {
  return node.lane == Lane::on_time || node.lane == Lane::deadline;
}

/// Requires: both have a deadline.
bool starts_before(const QueueNode& left, const QueueNode& right) {
  const std::chrono::nanoseconds of_left = left.urgency->latest_start;
  const std::chrono::nanoseconds of_right = right.urgency->latest_start;
  return of_left != of_right ? of_left < of_right : left.sequence < right.sequence;
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
  std::swap(deadlines_, other.deadlines_);
  std::swap(reasons_to_compare_, other.reasons_to_compare_);
  std::swap(rings_, other.rings_);
  std::swap(late_, other.late_);
  std::swap(on_time_, other.on_time_);
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

QueueNode* RunQueue::deadline_head(std::size_t of_class) const {
  QueueNode* const top = deadline_[of_class].empty() ? nullptr : deadline_[of_class].top().node;
  if (on_time_[of_class].empty()) return top;
  QueueNode* const front = on_time_[of_class].front();
  return top != nullptr && starts_before(*top, *front) ? top : front;
}

urgency::Score RunQueue::score_of(Head& head, std::chrono::nanoseconds now) const {
  if (head.score == Head::unknown)
    head.score = urgency::score(head.node->priority, head.node->urgency, now, options_.aging);
  return head.score;
}

inline bool RunQueue::leads(Head& left, Head& right, std::chrono::nanoseconds now) const {
  if (right.node == nullptr) return true;
  const urgency::Score of_left = score_of(left, now);
  const urgency::Score of_right = score_of(right, now);
  if (of_left != of_right) return of_left > of_right;
  return goes_before(rank_of(*left.node, now, options_.aging), rank_of(*right.node, now, options_.aging));
}

/// Whatever the lanes hold, `head` goes first: what at most draws level loses the tie to a higher class. Looks at the
/// score only if the classes don't decide.
inline bool RunQueue::beats(Head& head, LaneSet lanes, std::chrono::nanoseconds now) const {
  if (lanes.empty()) return true;
  if (head.node == nullptr) return false;
  const Priority top = highest(lanes.all());
  const urgency::Score aging = options_.aging == Aging::on ? urgency::aging_cap : 0;
  const urgency::Score most =
      urgency::base(top) + aging + (lanes.by_deadline != 0 ? urgency::urgency_cap : 0);
  if (urgency::base(head.node->priority) > most) return true;
  const urgency::Score score = score_of(head, now);
  return score > most || (score == most && head.node->priority > top);
}

/// Takes the highest class out of the set, and calls `consider(head)` for the heads of its lanes in the set.
template <class Consider>
inline void RunQueue::consider_highest(LaneSet& lanes, Consider consider) const {
  const Priority priority = highest(lanes.all());
  const bool by_sequence = (lanes.by_sequence & bit(priority)) != 0;
  const bool by_deadline = (lanes.by_deadline & bit(priority)) != 0;
  lanes.by_sequence &= ~bit(priority);
  lanes.by_deadline &= ~bit(priority);
  QueueNode* const plain = by_sequence ? plain_head(index(priority)) : nullptr;
  if (plain != nullptr) consider(Head{plain});
  if (by_deadline) consider(Head{deadline_head(index(priority))});
}

// The highest plain lane leaves few others to look at: most often those with deadlines, or none.
QueueNode* RunQueue::best(std::chrono::nanoseconds now) const {
  Head first;
  const auto consider = [&](Head head) {
    if (leads(head, first, now)) first = head;
  };
  LaneSet plain{occupied_, 0};
  while (first.node == nullptr && !plain.empty()) consider_highest(plain, consider);
  for (LaneSet pressing{0, deadlines_}; !beats(first, pressing, now);) consider_highest(pressing, consider);
  while (!beats(first, plain, now)) consider_highest(plain, consider);
  return first.node;
}

RunQueue::Popped RunQueue::pop_with_next(std::chrono::nanoseconds now) {
  if (options_.promote_every != 0) {
    QueueNode* const node = pop(now);
    return {node, best(now)};
  }
  Head first;
  Head next;
  const auto consider_both = [&](Head head) {
    if (leads(head, first, now))
      next = std::exchange(first, head);
    else if (leads(head, next, now))
      next = head;
  };
  LaneSet plain{occupied_, 0};
  LaneSet pressing{0, deadlines_};
  while (first.node == nullptr && !plain.empty()) consider_highest(plain, consider_both);
  while (!beats(first, pressing, now)) consider_highest(pressing, consider_both);
  while (!beats(first, plain, now)) consider_highest(plain, consider_both);
  if (first.node == nullptr) return {};
  // The lane that it headed has another head now, and what could not beat it may be the next.
  const std::size_t c = index(first.node->priority);
  const bool by_deadline = in_deadline_lane(*first.node);
  unlink(*first.node);
  const auto consider = [&](Head head) {
    if (head.node != nullptr && leads(head, next, now)) next = head;
  };
  consider(Head{by_deadline ? deadline_head(c) : plain_head(c)});
  while (!beats(next, pressing, now)) consider_highest(pressing, consider);
  while (!beats(next, plain, now)) consider_highest(plain, consider);
  return {first.node, next.node};
}

RunQueue::Heads RunQueue::heads(std::chrono::nanoseconds now) const {
  Heads heads;
  const auto add = [&](const QueueNode* node) {
    heads.entries[heads.count++] = {node, rank_of(*node, now, options_.aging).score};
  };
  for (std::size_t c = 0; c != priority_count; ++c) {
    if (const QueueNode* const node = plain_head(c)) add(node);
    if (const QueueNode* const node = deadline_head(c)) add(node);
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
  on_time_[c].for_each(add);
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
  NodeRing& ring = rings_[index(node.priority)];
  if (!node.has_deadline() && !ring.full() && !ring.empty() && ring.back()->sequence < node.sequence) {
    node.lane = Lane::fifo;
    ring.append(node);
    return note_occupied(node.priority);
  }
  make_room(node.priority, node.urgency);
  link(node);
}

void RunQueue::rerank(QueueNode& node, Priority priority, Urgency* urgency) {
  const bool stays = node.lane == Lane::none ||
                     (priority == node.priority && !in_deadline_lane(node) && !goes_by_deadline(urgency));
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
    if (options_.promote_every != 0)
      by_age_.make_room();
    else
      on_time_[c].make_room();
  } else {
    rings_[c].make_room();
    late_[c].make_room();
  }
}

/// A class that can be promoted needs the heap, whose entries know their place by age.
bool RunQueue::comes_on_time(const QueueNode& node) const {
  if (options_.promote_every != 0) return false;
  const NodeRing& ring = on_time_[index(node.priority)];
  return ring.empty() || starts_before(*ring.back(), node);
}

void RunQueue::link(QueueNode& node) {
  const std::size_t c = index(node.priority);
  if (node.has_deadline()) {
    ++reasons_to_compare_;
    deadlines_ |= bit(node.priority);
    if (comes_on_time(node)) {
      node.lane = Lane::on_time;
      on_time_[c].push_back(node);
    } else {
      node.lane = Lane::deadline;
      deadline_[c].push({node.urgency->latest_start, &node, 0}, tell_node);
      link_by_age(node);
    }
    return;
  }
  note_occupied(node.priority);
  if (rings_[c].empty() || rings_[c].back()->sequence < node.sequence) {
    node.lane = Lane::fifo;
    rings_[c].push_back(node);
  } else {
    node.lane = Lane::late;
    late_[c].push({node.sequence, &node}, tell_node);
    ++reasons_to_compare_;
  }
}

inline void RunQueue::take_out(NodeRing& ring, QueueNode& node) {
  if (ring.front() == &node)
    ring.pop_front();
  else
    ring.remove(node);
}

void RunQueue::unlink(QueueNode& node) {
  const std::size_t c = index(node.priority);
  switch (node.lane) {
    case Lane::none:
      return;
    case Lane::fifo:
      take_out(rings_[c], node);
      break;
    case Lane::late:
      late_[c].erase(node.position, tell_node);
      --reasons_to_compare_;
      break;
    case Lane::on_time:
      take_out(on_time_[c], node);
      --reasons_to_compare_;
      break;
    case Lane::deadline:
      unlink_by_age(node);  // needs the place that the erase below gives up
      deadline_[c].erase(node.position, tell_node);
      if (!deadline_[c].empty()) __builtin_prefetch(deadline_[c].top().node);  // ranked by the next pop
      --reasons_to_compare_;
      break;
  }
  if (in_deadline_lane(node) && on_time_[c].empty() && deadline_[c].empty())
    deadlines_ &= ~bit(node.priority);
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
    if (node == nullptr) node = deadline_head(c);
  }
  if (node != nullptr) unlink(*node);
  return node;
}

void RunQueue::clear() {
  while (pop_any() != nullptr) {
  }
}

}  // namespace bide
