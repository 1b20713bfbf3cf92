#include <bide/executor/jobs/job_pool.hpp>

#include <algorithm>

#include <bide/queue/saturating.hpp>
#include <bide/queue/urgency.hpp>

namespace bide {

namespace {

constexpr std::size_t index(Priority priority) { return static_cast<std::size_t>(priority); }

/// A sum of durations, which may be many and long, that stops at the longest.
Duration longer_by(Duration sum, Duration more) {
  std::int64_t total = 0;
  return __builtin_add_overflow(sum.count(), more.count(), &total) ? Duration::max() : Duration(total);
}

/// `sum * all / part`, where `part` of `all` were summed up.
Duration scaled(Duration sum, std::size_t all, std::size_t part) {
  if (all == part) return sum;
  __extension__ using Wide = __int128;
  const Wide whole = Wide{sum.count()} * static_cast<std::int64_t>(all) / static_cast<std::int64_t>(part);
  return whole > Duration::max().count() ? Duration::max() : Duration(static_cast<Duration::rep>(whole));
}

Duration rest_of(const JobEntry& entry, Instant now) {
  return std::max(Duration::zero(),
                  subtract_saturating(entry.estimate, subtract_saturating(now, entry.started)));
}

}  // namespace

void WaitList::push_back(SchedulerWait& wait) {
  wait.next_ = nullptr;
  wait.previous_ = last;
  (last == nullptr ? first : last->next_) = &wait;
  last = &wait;
  wait.list_ = this;
  ++size;
}

void WaitList::remove(SchedulerWait& wait) {
  (wait.previous_ == nullptr ? first : wait.previous_->next_) = wait.next_;
  (wait.next_ == nullptr ? last : wait.next_->previous_) = wait.previous_;
  wait.list_ = nullptr;
  --size;
}

JobPool::JobPool(JobEngine& owner, std::string of, PoolOptions with)
    : engine(owner),
      name(std::move(of)),
      options(std::move(with)),
      workers(options.workers),
      queue(options.tenant_weights),
      estimates({.default_duration = options.default_duration}),
      keeps_headroom_(options.bounds.headroom != decltype(options.bounds.headroom){}) {
  if (options.autoscale) autoscaler.emplace(*options.autoscale);
}

// ---- bounds

/// Requires: there is room but for that.
bool JobPool::leaves_headroom(Priority priority) const {
  const JobBounds& bounds = options.bounds;
  std::size_t kept = 0;
  for (std::size_t c = index(priority) + 1; c < priority_count; ++c) {
    if (bounds.headroom[c] > waiting[c].size()) kept += bounds.headroom[c] - waiting[c].size();
  }
  return kept < bounds.in_all - waiting_count;
}

bool JobPool::waits_for_room(Priority priority) const {
  for (std::size_t c = index(priority); c < priority_count; ++c)
    if (!submitters[c].empty()) return true;
  return false;
}

JobEntry* JobPool::victim(Priority newcomer) const {
  // A job whose record is being written is not at hand.
  const auto at_hand = [](const JobEntry* entry) { return entry->store == JobEntry::Store::idle; };
  if (options.overflow == Overflow::shed_oldest) {
    JobEntry* entry = waiting[index(Priority::low)].first();
    while (entry != nullptr && !at_hand(entry)) entry = entry->next;
    return entry;
  }
  if (options.overflow != Overflow::shed_lowest) return nullptr;
  for (std::size_t c = 0; c < index(newcomer); ++c) {
    JobEntry* entry = waiting[c].last();
    while (entry != nullptr && !at_hand(entry)) entry = entry->previous;
    if (entry != nullptr) return entry;
  }
  return nullptr;
}

// ---- fixed starts

void JobPool::reserve(JobEntry& entry) {
  const Instant from = entry.extras->start->at;
  const Instant until = add_saturating(from, entry.estimate);
  std::size_t overlapping = 0;
  for (const auto& [at, other] : reservations) {
    if (at < until && from < add_saturating(at, other->estimate)) ++overlapping;
  }
  const std::size_t most =
      workers == 0 ? 0 : std::max<std::size_t>(1, workers * options.reservable_per_mille / 1000);
  if (overlapping >= most) return;
  const auto place = std::upper_bound(reservations.begin(), reservations.end(), from,
                                      [](Instant at, const auto& item) { return at < item.first; });
  reservations.insert(place, {from, &entry});
  entry.reserved = true;
}

void JobPool::unreserve(JobEntry& entry) {
  if (!entry.reserved) return;
  entry.reserved = false;
  std::erase_if(reservations, [&](const auto& item) { return item.second == &entry; });
}

bool JobPool::leaves_reserved(Duration estimate, Instant now) const {
  const Instant until = add_saturating(now, std::min(estimate, options.max_hold));
  std::size_t needed = 0;
  for (const auto& [at, entry] : reservations) {
    if (at >= until) break;
    ++needed;
  }
  return free_workers() > needed;
}

// ---- questions

Feasibility JobPool::feasibility(Priority priority, std::chrono::nanoseconds latest_start, Duration estimate,
                                 std::optional<Instant> deadline, Instant now) const {
  Feasibility result;
  result.estimate = estimate;
  Duration work{};
  for (std::size_t c = index(priority); c < priority_count; ++c) {
    std::size_t looked_at = 0;
    std::size_t ahead = 0;
    Duration of_class{};
    for (const JobEntry* entry = waiting[c].first(); entry != nullptr && looked_at < Feasibility::looked_at;
         entry = entry->next) {
      ++looked_at;
      if (entry->status != JobStatus::ready) continue;
      if (c == index(priority) && entry->own.latest_start > latest_start) continue;
      of_class = longer_by(of_class, entry->estimate);
      ++ahead;
    }
    if (looked_at != 0) {
      of_class = scaled(of_class, waiting[c].size(), looked_at);
      ahead = ahead * waiting[c].size() / looked_at;
    }
    work = longer_by(work, of_class);
    result.jobs_ahead += ahead;
  }
  for (const JobEntry* entry = running.first(); entry != nullptr; entry = entry->next)
    if (!entry->is_leased) work = longer_by(work, rest_of(*entry, now));
  const auto hands = static_cast<std::int64_t>(workers);
  if (hands == 0)
    result.start = Instant::max();
  else if (result.jobs_ahead + running_count < workers)
    result.start = now;
  else
    result.start = add_saturating(now, work / hands);
  result.end = add_saturating(result.start, estimate);
  if (deadline && result.end > *deadline) result.late_by = subtract_saturating(result.end, *deadline);
  return result;
}

PoolState JobPool::state(Instant now) const {
  PoolState state{.name = name,
                  .workers = workers,
                  .running = running_count,
                  .leased = leased_count,
                  .waiting = waiting_count,
                  .reserved = reservations.size()};
  for (std::size_t c = 0; c < priority_count; ++c) {
    state.submitters += submitters[c].size;
    for (const JobEntry* entry = waiting[c].first(); entry != nullptr; entry = entry->next) {
      if (entry->status != JobStatus::ready) continue;
      ++state.ready;
      state.longest_wait =
          std::max(state.longest_wait, subtract_saturating(now.time_since_epoch(), entry->own.waiting_since));
    }
  }
  return state;
}

PoolLoad JobPool::load(Instant now) const {
  PoolLoad load{.workers = static_cast<std::uint32_t>(workers),
                .busy = static_cast<std::uint32_t>(running_count)};
  const Instant horizon =
      add_saturating(now, options.autoscale ? options.autoscale->reservation_horizon : Duration::zero());
  for (const auto& [at, entry] : reservations) load.reserved += at <= horizon ? 1 : 0;
  for (std::size_t c = 0; c < priority_count; ++c) {
    for (const JobEntry* entry = waiting[c].first(); entry != nullptr; entry = entry->next) {
      if (entry->status != JobStatus::ready) continue;
      load.queued_work[c] = longer_by(load.queued_work[c], entry->estimate);
      load.oldest_wait[c] = std::max(load.oldest_wait[c],
                                     subtract_saturating(now.time_since_epoch(), entry->own.waiting_since));
    }
  }
  return load;
}

PoolGauges JobPool::gauges(Instant now) const {
  PoolGauges gauges{.workers = workers,
                    .running = running_count + leased_count,
                    .cost = autoscaler ? autoscaler->cost() : 0};
  for (std::size_t c = 0; c < priority_count; ++c) {
    for (const JobEntry* entry = waiting[c].first(); entry != nullptr; entry = entry->next) {
      if (entry->status != JobStatus::ready) continue;
      ++gauges.queued[c];
      gauges.longest_wait[c] = std::max(
          gauges.longest_wait[c], subtract_saturating(now.time_since_epoch(), entry->own.waiting_since));
    }
  }
  return gauges;
}

}  // namespace bide
