// The timer list beside a std::map ordered by (instant, sequence): the same random operations on both.
//
// BIDE_SEED=<n> runs one seed, BIDE_MODEL_OPERATIONS=<n> changes the length of a run.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <bide/tests/random.hpp>
#include <bide/tests/sanitizer.hpp>
#include <bide/timers/timer_list.hpp>

namespace {

using bide::Duration;
using bide::Instant;
using bide::Timer;
using bide::TimerList;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Shape {
  std::size_t timer_count;  // armed at most
  std::uint64_t spread;     // delays are below it: small is many ties
};

/// The list and its twin.
class Pair {
 public:
  Pair(std::uint64_t seed, Shape shape) : random_(seed), shape_(shape), sleepers_(shape.timer_count) {}

  void step() {
    Sleeper& sleeper = sleepers_[random_.below(sleepers_.size())];
    const std::uint64_t choice = random_.below(100);
    if (choice < 2) return release();
    if (choice < 4) return advance();
    if (!sleeper.armed() && !sleeper.place && choice < 10) return take_place(sleeper);
    if (!sleeper.armed()) return arm(sleeper);
    if (choice < 60) cancel(sleeper);
  }

  bool agree() const {
    if (timers_.empty() != twin_.empty() || timers_.size() != twin_.size()) return false;
    const auto due = timers_.next_due();
    return twin_.empty() ? !due : due == twin_.begin()->first.first;
  }

  bool all_agree() {
    while (!twin_.empty()) {
      release();
      if (!agree() || differed_) return false;
    }
    return !differed_;
  }

  bool differed() const { return differed_; }

 private:
  using Key = std::pair<Instant, std::uint64_t>;
  struct Sleeper : Timer {
    Key key;
    std::optional<std::uint64_t> place;  // taken, to be armed at later
  };

  Instant any_instant() {
    if (random_.below(1000) == 0)
      return Instant::max() - Duration(static_cast<std::int64_t>(random_.below(3)));
    return add_saturating(now_, Duration(static_cast<std::int64_t>(random_.below(shape_.spread))));
  }

  // The twin's sequence runs beside the list's, so it is the place too.
  void take_place(Sleeper& sleeper) {
    sleeper.place = armed_count_++;
    differed_ |= timers_.take_place() != *sleeper.place;
  }

  void arm(Sleeper& sleeper) {
    const Instant at = any_instant();
    if (sleeper.place) {
      sleeper.key = {at, *sleeper.place};
      timers_.arm(sleeper, at, *std::exchange(sleeper.place, std::nullopt));
    } else {
      sleeper.key = {at, armed_count_++};
      timers_.arm(sleeper, at);
    }
    twin_.emplace(sleeper.key, &sleeper);
  }

  void cancel(Sleeper& sleeper) {
    differed_ |= timers_.due(sleeper) != sleeper.key.first;
    timers_.cancel(sleeper);
    twin_.erase(sleeper.key);
  }

  void release() {
    if (!twin_.empty() && twin_.begin()->first.first < Instant::max() - Duration(3))
      now_ = twin_.begin()->first.first;
    release_one(Instant::max());
  }

  void advance() {
    const std::uint64_t few_timers = 8 * shape_.spread / shape_.timer_count + 2;
    now_ = add_saturating(now_, Duration(static_cast<std::int64_t>(random_.below(few_timers))));
    while (release_one(now_) != 0) {
    }
  }

  std::size_t release_one(Instant until) {
    const std::uint64_t pass_end = armed_count_;
    const Instant instant = twin_.empty() ? Instant::max() : twin_.begin()->first.first;
    const std::size_t count = timers_.release(until, [&](Timer& timer) noexcept {
      auto& sleeper = static_cast<Sleeper&>(timer);
      const auto first = twin_.begin();
      differed_ |= sleeper.armed() || first == twin_.end() || first->second != &sleeper ||
                   first->first.first > until || first->first.first != instant ||
                   first->first.second >= pass_end;
      twin_.erase(sleeper.key);
      const std::uint64_t choice = random_.below(16);
      Sleeper& other = sleepers_[random_.below(sleepers_.size())];
      if (choice < 4 && other.armed()) cancel(other);
      if (choice < 2 && !twin_.empty())
        cancel(*twin_.begin()->second);  // the next of this release, it may be
      if (choice >= 2 && choice < 5 && instant <= now_ && !sleeper.armed() && !sleeper.place) arm(sleeper);
      if (choice == 5 && !other.armed() && !other.place) take_place(other);
    });
    // Nothing of the pass may be left, and nothing due may have been kept back.
    if (!twin_.empty()) {
      const Key& first = twin_.begin()->first;
      differed_ |= first.first == instant && instant <= until && first.second < pass_end;
    }
    return count;
  }

  bide::test::Random random_;
  Shape shape_;
  std::vector<Sleeper> sleepers_;
  std::map<Key, Sleeper*> twin_;
  TimerList timers_;
  Instant now_ = Instant(Duration(-1'000));  // so that some instants are negative
  std::uint64_t armed_count_ = 0;
  bool differed_ = false;
};

void run_beside_model(std::uint64_t seed, Shape shape, std::uint64_t operation_count) {
  INFO("seed " << seed << ", timers " << shape.timer_count << ", spread " << shape.spread);
  Pair pair(seed, shape);
  for (std::uint64_t operation = 0; operation != operation_count; ++operation) {
    pair.step();
    if (pair.differed() || !pair.agree()) FAIL("differs from the model after operation " << operation);
  }
  CHECK(pair.all_agree());
}

}  // namespace

constexpr std::uint64_t operations = bide::test::sanitized ? 2'000'000 : 10'000'000;

TEST_CASE("TimerList: does as a sorted list does over millions of random operations") {
  const std::uint64_t given_seed = number_from_environment("BIDE_SEED", 0);
  const std::uint64_t operation_count = number_from_environment("BIDE_MODEL_OPERATIONS", operations);
  const std::vector<std::uint64_t> seeds =
      given_seed == 0 ? std::vector<std::uint64_t>{1, 2, 3, 4} : std::vector<std::uint64_t>{given_seed};
  // Few and many timers, few and many ties; the last is large enough for every way through the heap.
  const Shape shapes[] = {{4, 3}, {40, 10}, {300, 1'000}, {1'000, 1'000'000'000}, {60'000, 100'000}};
  const std::uint64_t share = operation_count / (seeds.size() * std::size(shapes)) + 1;
  for (const std::uint64_t seed : seeds) {
    for (const Shape& shape : shapes) run_beside_model(seed, shape, share);
  }
}
