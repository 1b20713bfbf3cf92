#include <bide/executor/deadlock.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

namespace bide {

namespace {

/// Who waits for whom: threads by their place in the list of reports, an edge for each thread that a wait
/// names.
class WaitGraph {
 public:
  using Threads = std::vector<std::size_t>;

  explicit WaitGraph(const std::vector<ThreadReport>& threads)
      : waits_for_(threads.size()), waited_for_by_(threads.size()) {
    std::unordered_map<std::uint64_t, std::size_t> places;  // never iterated: its order is none
    for (std::size_t thread = 0; thread < threads.size(); ++thread) places[threads[thread].id] = thread;
    for (std::size_t thread = 0; thread < threads.size(); ++thread) {
      for (const std::uint64_t id : threads[thread].waits_for) {
        const auto place = places.find(id);
        if (place == places.end()) continue;
        waits_for_[thread].push_back(place->second);
        waited_for_by_[place->second].push_back(thread);
      }
    }
  }

  bool waits_for_a_thread(std::size_t thread) const { return !waits_for_[thread].empty(); }

  /// Disjoint cycles, each from its first thread on. None is left among the other threads.
  std::vector<Threads> cycles() const {
    std::vector<Threads> found;
    Remaining remaining(*this);
    for (std::size_t thread = 0; thread < waits_for_.size(); ++thread) {
      while (remaining.contains(thread)) {
        found.push_back(cycle_behind(thread, remaining));
        for (const std::size_t member : found.back()) remaining.remove(member);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  /// Marks all that wait for a marked thread, or for one that does.
  void mark_waiters(std::vector<bool>& marked) const {
    Threads to_do;
    for (std::size_t thread = 0; thread < marked.size(); ++thread) {
      if (marked[thread]) to_do.push_back(thread);
    }
    while (!to_do.empty()) {
      const std::size_t thread = to_do.back();
      to_do.pop_back();
      for (const std::size_t waiter : waited_for_by_[thread]) {
        if (marked[waiter]) continue;
        marked[waiter] = true;
        to_do.push_back(waiter);
      }
    }
  }

 private:
  // The threads that wait for another one of these: from each of them a walk along the edges never ends, and
  // so comes to a cycle.
  class Remaining {
   public:
    explicit Remaining(const WaitGraph& graph) : graph_(graph) {
      for (const Threads& edges : graph.waits_for_) edge_counts_.push_back(edges.size());
      contains_.assign(edge_counts_.size(), true);
      for (std::size_t thread = 0; thread < edge_counts_.size(); ++thread) {
        if (graph.waits_for_[thread].empty()) remove(thread);
      }
    }
    bool contains(std::size_t thread) const { return contains_[thread]; }
    void remove(std::size_t thread) {
      if (!contains_[thread]) return;
      contains_[thread] = false;
      Threads to_do{thread};
      while (!to_do.empty()) {
        const std::size_t gone = to_do.back();
        to_do.pop_back();
        for (const std::size_t waiter : graph_.waited_for_by_[gone]) {
          if (--edge_counts_[waiter] > 0 || !contains_[waiter]) continue;
          contains_[waiter] = false;
          to_do.push_back(waiter);
        }
      }
    }

   private:
    const WaitGraph& graph_;
    std::vector<std::size_t> edge_counts_;  // to threads that remain
    std::vector<bool> contains_;
  };

  Threads cycle_behind(std::size_t thread, const Remaining& remaining) const {
    Threads path;
    std::unordered_map<std::size_t, std::size_t> steps;
    while (steps.emplace(thread, path.size()).second) {
      path.push_back(thread);
      const Threads& edges = waits_for_[thread];
      thread =
          *std::find_if(edges.begin(), edges.end(), [&](auto other) { return remaining.contains(other); });
    }
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(steps[thread]));
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
    return path;
  }

  std::vector<Threads> waits_for_;
  std::vector<Threads> waited_for_by_;
};

void list(std::string& text, const ThreadReport& thread) { text += "\n    " + to_string(thread); }

void list_lost(std::string& text, const ThreadReport& thread) {
  list(text, thread);
  if (!thread.remedy.empty()) text += "; nobody is left who could " + thread.remedy;
}

// The threads of one kind under their title, which is left out where there are none.
template <class Belongs>
void list_under(std::string& text, const char* title, const std::vector<ThreadReport>& threads,
                Belongs belongs, void (*list_one)(std::string&, const ThreadReport&) = list) {
  const std::size_t before = text.size();
  for (std::size_t thread = 0; thread < threads.size(); ++thread) {
    if (!belongs(thread)) continue;
    if (text.size() == before) text += std::string("\n  ") + title;
    list_one(text, threads[thread]);
  }
}

std::string describe_deadlock(Instant now, const std::vector<ThreadReport>& threads) {
  std::string text = "deadlock at " + to_string(now.time_since_epoch()) + ": " +
                     std::to_string(threads.size()) +
                     (threads.size() == 1 ? " thread waits" : " threads wait") + " and nothing can wake " +
                     (threads.size() == 1 ? "it" : "them");
  const WaitGraph graph(threads);
  const std::vector<WaitGraph::Threads> cycles = graph.cycles();
  std::vector<bool> in_cycle(threads.size());
  for (const WaitGraph::Threads& cycle : cycles) {
    text += "\n  in a cycle: ";
    for (const std::size_t thread : cycle) text += std::to_string(threads[thread].id) + " -> ";
    text += std::to_string(threads[cycle.front()].id);
    for (const std::size_t thread : cycle) {
      in_cycle[thread] = true;
      list(text, threads[thread]);
    }
  }
  std::vector<bool> behind_cycle = in_cycle;
  graph.mark_waiters(behind_cycle);
  list_under(text, "behind a cycle:", threads,
             [&](std::size_t thread) { return behind_cycle[thread] && !in_cycle[thread]; });
  list_under(
      text, cycles.empty() ? "by a lost wake-up:" : "by a lost wake-up, or behind a cycle:", threads,
      [&](std::size_t thread) { return !graph.waits_for_a_thread(thread); }, list_lost);
  list_under(text, "behind a lost wake-up:", threads,
             [&](std::size_t thread) { return graph.waits_for_a_thread(thread) && !behind_cycle[thread]; });
  return text;
}

std::string describe_livelock(Instant now, const std::vector<ThreadReport>& threads) {
  std::string text = "livelock at " + to_string(now.time_since_epoch());
  text += threads.empty() ? ": posts follow one another, and time does not move"
                          : ": threads run, but time does not move and none ends";
  for (const ThreadReport& thread : threads) text += "\n  " + to_string(thread);
  return text;
}

std::string describe_stuck(Instant now, Duration waited, const std::vector<ThreadReport>& threads) {
  const Duration whole = waited - waited % std::chrono::milliseconds(1);
  std::string text = "virtual time stands at " + to_string(now.time_since_epoch()) + " since " +
                     to_string(whole) + " of real time, for real operations that do not end";
  for (const ThreadReport& thread : threads) text += "\n  " + to_string(thread);
  return text;
}

}  // namespace

Deadlock::Deadlock(Instant now, std::vector<ThreadReport> threads)
    : std::runtime_error(describe_deadlock(now, threads)),
      threads_(std::make_shared<const std::vector<ThreadReport>>(std::move(threads))) {}

Livelock::Livelock(Instant now, std::vector<ThreadReport> threads)
    : std::runtime_error(describe_livelock(now, threads)),
      threads_(std::make_shared<const std::vector<ThreadReport>>(std::move(threads))) {}

OperationStuck::OperationStuck(Instant now, Duration waited, std::vector<ThreadReport> threads)
    : std::runtime_error(describe_stuck(now, waited, threads)),
      threads_(std::make_shared<const std::vector<ThreadReport>>(std::move(threads))) {}

}  // namespace bide
