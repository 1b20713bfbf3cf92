#include <algorithm>
#include <bide/timers/timer_list.hpp>

namespace bide {
namespace {

constexpr std::size_t arity = 4;

/// Up to here the array lives in the first caches, and a mispredicted comparison costs more than waiting for
/// the data of the next level. Beyond, guessing pays: the processor fetches the next level meanwhile.
constexpr std::size_t largest_without_branches = 16'384;

/// `condition ? yes : no` for a condition that is as good as random: both are at hand, so that the compiler does not branch
/// around one.
std::size_t chosen(bool condition, std::size_t yes, std::size_t no) {
  asm("" : "+r"(yes), "+r"(no));
  return condition ? yes : no;
}

std::size_t parent_of(std::size_t slot) { return (slot - 1) / arity; }
std::size_t first_child_of(std::size_t slot) { return arity * slot + 1; }

}  // namespace

// Inside a release an old place could lie before timers of its instant that have fired already.
void TimerList::arm(Timer& timer, Instant at, std::uint64_t place) {
  require(place < next_sequence_, "a timer was armed at a place that was not taken");
  require(!releasing_, "a timer was armed at a place from inside a release");
  insert(timer, at, place);
}

void TimerList::insert(Timer& timer, Instant at, std::uint64_t sequence) {
  require(!timer.armed(), "a timer was armed twice");
  require(at >= released_, "a timer was armed before the instant being released");
  const std::size_t slot = entries_.size();
  require(slot < Timer::no_slot, "more timers than slots");
  entries_.push_back(Entry{at, sequence, &timer});
  move_up(slot, entries_.back());
}

void TimerList::cancel(Timer& timer) {
  const std::size_t slot = timer.slot_;
  require(slot < entries_.size() && entries_[slot].timer == &timer,
          "a timer was cancelled that is not armed here");
  timer.slot_ = Timer::no_slot;
  remove(slot);
}

void TimerList::clear() {
  require(!releasing_, "timers were cleared from inside a release");
  for (const Entry& entry : entries_) entry.timer->slot_ = Timer::no_slot;
  entries_.clear();
}

Timer& TimerList::take_first() {
  Timer& timer = *entries_.front().timer;
  timer.slot_ = Timer::no_slot;
  remove(0);
  return timer;
}

/// The tie between timers of one instant is broken here, and nowhere else.
bool TimerList::goes_before(const Entry& left, const Entry& right) {
  return left.at < right.at || (left.at == right.at && left.sequence < right.sequence);
}

// The last entry fills the gap. Most often it belongs at the bottom again: the gap goes down to there first, which spares a
// comparison a level, and the entry rises from there.
void TimerList::remove(std::size_t slot) {
  const Entry last = entries_.back();
  entries_.pop_back();
  if (slot != entries_.size()) move_up(move_gap_down(slot), last);
}

void TimerList::place(std::size_t slot, const Entry& entry) {
  entries_[slot] = entry;
  entry.timer->slot_ = static_cast<std::uint32_t>(slot);
}

void TimerList::move_up(std::size_t slot, Entry entry) {
  while (slot > 0) {
    const std::size_t parent = parent_of(slot);
    if (!goes_before(entry, entries_[parent])) break;
    place(slot, entries_[parent]);
    slot = parent;
  }
  place(slot, entry);
}

/// goes_before as one number without a branch: the borrow of a 128-bit subtraction.
std::size_t TimerList::earliest_of_four(const Entry* entries, std::size_t first) {
  __extension__ using Key = __int128;
  const auto key = [entries](std::size_t slot) {
    return Key{entries[slot].at.time_since_epoch().count()} << 64U | entries[slot].sequence;
  };
  const std::size_t left = first + std::size_t{key(first + 1) < key(first)};
  const std::size_t right = first + 2 + std::size_t{key(first + 3) < key(first + 2)};
  return key(right) < key(left) ? right : left;
}

/// Which of two instants is earlier is no branch: it is as good as random. That some are equal is one, since it is
/// rare or usual, and guessed well.
inline std::size_t TimerList::earliest_of_four_instants(const Entry* entries, std::size_t first) {
  const auto at = [four = entries + first](std::size_t place) {
    return four[place].at.time_since_epoch().count();
  };
  const std::int64_t left = std::min(at(0), at(1));
  const std::int64_t right = std::min(at(2), at(3));
  const int equal = int{at(0) == at(1)} | int{at(2) == at(3)} | int{left == right};
  if (equal != 0) [[unlikely]]
    return earliest_of_four(entries, first);
  const std::size_t of_left = at(1) < at(0);
  const std::size_t of_right = 2 + std::size_t{at(3) < at(2)};
  return first + chosen(right < left, of_right, of_left);
}

// Returns: where the gap is now, without children.
std::size_t TimerList::move_gap_down(std::size_t slot) {
  const std::size_t end = entries_.size();
  const std::size_t end_of_fours = end <= largest_without_branches ? end : 0;
  for (std::size_t child = first_child_of(slot); child < end; child = first_child_of(slot)) {
    const std::size_t earliest =
        child + arity <= end_of_fours
            ? earliest_of_four_instants(entries_.data(), child)
            : earliest_by_branches(entries_.data(), child, std::min(child + arity, end));
    place(slot, entries_[earliest]);
    slot = earliest;
  }
  return slot;
}

std::size_t TimerList::earliest_by_branches(const Entry* entries, std::size_t first, std::size_t end) {
  std::size_t earliest = first;
  for (std::size_t child = first + 1; child < end; ++child) {
    if (goes_before(entries[child], entries[earliest])) earliest = child;
  }
  return earliest;
}

}  // namespace bide
