// The queue against a twin too simple to be wrong: one unsorted list, scanned whole for every decision. A
// failure prints the seed; BIDE_SEED=<seed> plays it again.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <bide/queue/run_queue.hpp>
#include <bide/tests/random.hpp>
#include <bide/tests/sanitizer.hpp>
#include <catch2/catch.hpp>

using bide::Aging;
using bide::Priority;
using bide::QueueNode;
using bide::RunQueue;
using bide::Urgency;
using Time = std::chrono::nanoseconds;

namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

struct TwinNode {
  std::size_t id;
  std::uint64_t sequence;
  int of_class;
  bool has_urgency;
  Urgency moving;
  bool has_deadline() const { return has_urgency && moving.latest_start != Urgency::none; }
};

class Twin {
 public:
  explicit Twin(RunQueue::Options options) : options_(options) {}

  std::size_t size() const { return list_.size(); }
  std::uint64_t next_sequence() const { return next_sequence_; }
  const TwinNode& operator[](std::size_t at) const { return list_[at]; }

  void push(TwinNode node) {
    node.sequence = next_sequence_++;
    list_.push_back(node);
  }

  void replace(std::size_t at, int of_class, bool has_urgency, const Urgency& moving) {
    list_[at].of_class = of_class;
    list_[at].has_urgency = has_urgency;
    list_[at].moving = moving;
  }

  void remove(std::size_t at) {
    list_[at] = list_.back();
    list_.pop_back();
  }

  /// Where the node is that goes first.
  std::size_t first(Time now) const {
    std::size_t heads[8];
    std::fill(std::begin(heads), std::end(heads), nobody);
    for (std::size_t at = 0; at != list_.size(); ++at) {
      const TwinNode& node = list_[at];
      std::size_t& head = heads[2 * node.of_class + (node.has_deadline() ? 1 : 0)];
      const auto key = [](const TwinNode& one) {
        return std::tuple(one.has_deadline() ? one.moving.latest_start : Time(0), one.sequence);
      };
      if (head == nobody || key(node) < key(list_[head])) head = at;
    }
    std::size_t best = nobody;
    for (const std::size_t head : heads)
      if (head != nobody && (best == nobody || rank(list_[head], now) < rank(list_[best], now))) best = head;
    return best;
  }

  /// Returns: the id of the node that rises, or nobody.
  std::size_t after_pop() {
    if (options_.promote_every == 0 || ++pops_ % options_.promote_every != 0) return nobody;
    TwinNode* oldest = nullptr;
    for (TwinNode& node : list_)
      if (node.of_class < 2 && (oldest == nullptr || node.sequence < oldest->sequence)) oldest = &node;
    if (oldest == nullptr) return nobody;
    ++oldest->of_class;
    return oldest->id;
  }

 private:
  __extension__ typedef __int128 Wide;

  std::int64_t score(const TwinNode& node, Time now) const {
    static constexpr std::int64_t bases[] = {10'000, 100'000, 1'000'000, 10'000'000};
    Wide score = bases[node.of_class];
    if (!node.has_urgency) return static_cast<std::int64_t>(score);
    const Wide waited = Wide{now.count()} - node.moving.waiting_since.count();
    if (options_.aging == Aging::on) score += std::clamp<Wide>(waited * 2000 / 1'000'000'000, 0, 800'000);
    if (node.has_deadline()) {
      const Wide slack = Wide{node.moving.latest_start.count()} - now.count();
      const Wide horizon = node.moving.horizon.count();
      if (slack <= 0)
        score += 5'000'000 + std::min<Wide>(-slack * 100'000 / 1'000'000'000, 3'000'000);
      else if (slack < horizon)
        score += 5'000'000 * (horizon - slack) / horizon;
    }
    return static_cast<std::int64_t>(score);
  }

  std::tuple<std::int64_t, int, Time, std::uint64_t> rank(const TwinNode& node, Time now) const {
    return {-score(node, now), -node.of_class, node.has_deadline() ? node.moving.latest_start : Urgency::none,
            node.sequence};
  }

  RunQueue::Options options_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t pops_ = 0;
  std::vector<TwinNode> list_;
};

struct Mix {
  RunQueue::Options options;
  std::uint64_t deadlines_in_ten;  // of ten nodes so many have a deadline
  std::size_t most_nodes;
  std::uint64_t operations;
};

struct Item : QueueNode {
  std::size_t id = 0;
  Urgency moving;
};

/// Plays one mix on queue and twin. Returns: what differed first, empty if nothing did.
class Play {
 public:
  Play(const Mix& mix, std::uint64_t seed)
      : mix_(mix), random_(seed), queue_(mix.options), twin_(mix.options), items_(new Item[mix.most_nodes]) {
    for (std::size_t id = mix.most_nodes; id-- != 0;) {
      items_[id].id = id;
      idle_.push_back(id);
    }
  }

  std::string run() {
    for (operation_ = 0; operation_ != mix_.operations && difference_.empty(); ++operation_) step();
    while (difference_.empty() && twin_.size() != 0) pop();
    if (queue_.pop(now_) != nullptr) differ("a node too many");
    return difference_;
  }

 private:
  void step() {
    // Phases lean to pushing or to popping, long enough for the queue to fill and to drain.
    const std::uint64_t push_share = 25 + 20 * (operation_ / (4 * mix_.most_nodes) % 3);
    const std::uint64_t dice = random_.below(100);
    if (dice < push_share)
      push();
    else if (dice < 80)
      pop();
    else if (dice < 92)
      rerank();
    else if (dice < 97)
      remove();
    else
      now_ += Time(static_cast<std::int64_t>(random_.below(dice == 97 ? 100'000'000'000 : 3'000'000'000)));
    if (queue_.size() != twin_.size()) differ("size");
    if (queue_.next_sequence() != twin_.next_sequence()) differ("next sequence");
  }

  void push() {
    if (idle_.empty()) return;
    Item& item = items_[idle_.back()];
    idle_.pop_back();
    item.priority = any_class();
    item.urgency = any_urgency(item);
    queue_.push(item);
    twin_.push({item.id, 0, static_cast<int>(item.priority), item.urgency != nullptr, item.moving});
  }

  void pop() {
    const std::size_t at = twin_.first(now_);
    if (random_.below(4) == 0 && queue_.peek(now_) != (at == nobody ? nullptr : &items_[twin_[at].id]))
      return differ("peek");
    if (random_.below(16) == 0) check_heads(at);
    const bool looks = random_.below(2) == 0;
    const RunQueue::Popped popped = looks ? queue_.pop_with_next(now_) : RunQueue::Popped{queue_.pop(now_)};
    auto* const item = static_cast<Item*>(popped.node);
    if (at == nobody) return item == nullptr ? void() : differ("a pop from nothing");
    const TwinNode expected = twin_[at];
    if (item != &items_[expected.id]) return differ("pop");
    if (item->sequence != expected.sequence || static_cast<int>(item->priority) != expected.of_class)
      return differ("sequence or class of a pop");
    if (item->queued()) return differ("a popped node counts as queued");
    twin_.remove(at);
    idle_.push_back(expected.id);
    const std::size_t risen = twin_.after_pop();
    if (looks) {
      const std::size_t next = twin_.first(now_);
      if (popped.next != (next == nobody ? nullptr : &items_[twin_[next].id])) differ("next");
    }
    if (risen == nobody) return;
    for (std::size_t i = 0; i != twin_.size(); ++i)
      if (twin_[i].id == risen && static_cast<int>(items_[risen].priority) != twin_[i].of_class)
        differ("promotion");
  }

  void check_heads(std::size_t first) {
    const RunQueue::Heads heads = queue_.heads(now_);
    if (first == nobody) return heads.count == 0 ? void() : differ("heads of nothing");
    if (heads.begin()->node != &items_[twin_[first].id]) differ("first of the heads");
    for (std::size_t i = 1; i < heads.count; ++i)
      if (heads.entries[i - 1].score < heads.entries[i].score) differ("order of the heads");
  }

  void rerank() {
    if (twin_.size() == 0) return;
    const std::size_t at = random_.below(twin_.size());
    Item& item = items_[twin_[at].id];
    const Priority priority = any_class();
    // Half of the time the urgency stays, as when only a class is inherited.
    Urgency* const moving = random_.below(2) == 0 ? item.urgency : any_urgency(item);
    queue_.rerank(item, priority, moving);
    twin_.replace(at, static_cast<int>(priority), moving != nullptr, item.moving);
  }

  void remove() {
    if (twin_.size() == 0) return;
    const std::size_t at = random_.below(twin_.size());
    queue_.remove(items_[twin_[at].id]);
    idle_.push_back(twin_[at].id);
    twin_.remove(at);
  }

  Priority any_class() { return static_cast<Priority>(std::min<std::uint64_t>(random_.below(5), 3)); }

  /// Values on a coarse grid, so that ties are common.
  Urgency* any_urgency(Item& item) {
    const std::uint64_t kind = random_.below(10);
    const bool with_deadline = kind < mix_.deadlines_in_ten;
    if (!with_deadline && kind % 2 == 0) return nullptr;
    const auto seconds = [&](std::uint64_t below) {
      return std::chrono::seconds(static_cast<std::int64_t>(random_.below(below)));
    };
    const Time whole = std::chrono::floor<std::chrono::seconds>(now_);
    const Time estimate = random_.below(8) == 0 ? Time(seconds(20'000)) : Time(seconds(10));
    item.moving.latest_start = with_deadline ? whole + seconds(100) - seconds(50) : Urgency::none;
    item.moving.horizon = bide::urgency::horizon(estimate);
    item.moving.waiting_since = whole - seconds(500);
    return &item.moving;
  }

  void differ(const char* what) {
    if (difference_.empty()) difference_ = std::string(what) + " at operation " + std::to_string(operation_);
  }

  Mix mix_;
  bide::test::Random random_;
  RunQueue queue_;
  Twin twin_;
  std::unique_ptr<Item[]> items_;
  std::vector<std::size_t> idle_;
  Time now_{0};
  std::uint64_t operation_ = 0;
  std::string difference_;
};

std::uint64_t seed() {
  const char* const given = std::getenv("BIDE_SEED");
  return given == nullptr ? 20'260 : std::strtoull(given, nullptr, 0);
}

void check(const Mix& mix, std::uint64_t seed) {
  INFO("BIDE_SEED=" << seed << " promote_every=" << mix.options.promote_every << " aging="
                    << static_cast<int>(mix.options.aging) << " deadlines=" << mix.deadlines_in_ten);
  CHECK(Play(mix, seed).run() == "");
}

}  // namespace

constexpr std::uint64_t share = bide::test::sanitized ? 5 : 1;

TEST_CASE("RunQueue: equals a scanned list over millions of random operations") {
  for (const Aging aging : {Aging::off, Aging::on})
    for (const std::uint64_t promote_every : {0U, 1U, 2U, 7U})
      for (const std::uint64_t deadlines : {0U, 1U, 5U})
        for (const std::size_t most_nodes : {7U, 40U})
          check({{.promote_every = promote_every, .aging = aging}, deadlines, most_nodes, 120'000 / share},
                seed());
}

TEST_CASE("RunQueue: equals a scanned list while it grows to thousands") {
  for (const Aging aging : {Aging::off, Aging::on})
    for (const std::uint64_t promote_every : {0U, 2U})
      check({{.promote_every = promote_every, .aging = aging}, 3, 2000, 50'000 / share}, seed());
}
