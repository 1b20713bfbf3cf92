#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <bide/executor/jobs/job_entry.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/queue/run_queue.hpp>

namespace bide {

/// What attempts of any pool share: permits that come back, or tokens that come with time. Gates dispatch, not submit.
///
/// A job that can't have what it needs waits in the resource's own queue, in the order of queue/order.hpp over all
/// pools. No barging: while one waits here, one that goes behind it waits, too, however little it asks for.
class JobResource final : private TimedCall {
 public:
  /// A semaphore.
  JobResource(std::string name, std::uint64_t permits)
      : name_(std::move(name)), most_(permits), permits_(permits) {}
  /// A token bucket. Tokens are counted in exact integers; a wait ends at the first nanosecond at which they are there.
  JobResource(std::string name, Rate rate, std::uint64_t burst);

  const std::string& name() const { return name_; }
  /// No more can ever be had at once.
  std::uint64_t most() const { return most_; }
  std::uint64_t available(Instant now) const;
  void take(std::uint64_t count, Instant now);
  /// Of a semaphore; tokens are gone.
  void give_back(std::uint64_t count);

  void park(JobEntry& entry);
  void unpark(JobEntry& entry);
  /// Whom the resource goes to first; null: nobody waits.
  JobEntry* first_parked(Instant now);
  RunQueue& parked() { return parked_; }

  /// Calls the engine when `count` tokens are there.
  void wake_for(JobEngine& engine, Executor& executor, std::uint64_t count, Instant now);

 private:
  __extension__ using Level = unsigned __int128;

  Level level_at(Instant now) const;
  std::optional<Instant> ready_at(std::uint64_t count, Instant now) const;
  void due() noexcept override;

  std::string name_;
  std::uint64_t most_;
  std::uint64_t permits_ = 0;  // of a semaphore: free ones
  std::optional<Rate> rate_;   // of a bucket
  Level level_ = 0;            // in tokens times rate_->per
  Instant filled_at_ = Instant::min();
  JobEngine* engine_ = nullptr;
  RunQueue parked_{RunQueue::Options{.promote_every = 0, .aging = Aging::on}};
};

}  // namespace bide
