#include <bide/executor/dump.hpp>

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include <bide/executor/executor.hpp>

namespace bide {

std::string to_tree(const std::vector<ThreadReport>& threads) {
  constexpr std::size_t most_levels = 32;
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t thread = 0; thread < threads.size(); ++thread) places[threads[thread].id] = thread;
  std::vector<std::vector<std::size_t>> children(threads.size());
  std::vector<std::pair<std::size_t, std::size_t>> to_do;  // thread and depth, the next one at the back
  for (std::size_t thread = threads.size(); thread-- > 0;) {
    const auto owner = places.find(threads[thread].group_owner.value_or(0));
    if (owner != places.end()) {
      children[owner->second].push_back(thread);
    } else {
      to_do.emplace_back(thread, 1);
    }
  }
  std::string text;
  while (!to_do.empty()) {
    const auto [thread, depth] = to_do.back();
    to_do.pop_back();
    text += std::string(2 * std::min(depth, most_levels), ' ') + to_string(threads[thread]);
    if (depth > most_levels) text += "; under thread " + std::to_string(*threads[thread].group_owner);
    text += '\n';
    for (const std::size_t child : children[thread]) to_do.emplace_back(child, depth + 1);
  }
  return text;
}

std::string Executor::dump() const {
  const std::size_t count = threads_.size();
  return "executor at " + to_string(now_.time_since_epoch()) + ": " + std::to_string(count) +
         (count == 1 ? " thread, " : " threads, ") + std::to_string(resumes_) +
         (resumes_ == 1 ? " resume, " : " resumes, ") + std::to_string(ticks_) +
         (ticks_ == 1 ? " tick\n" : " ticks\n") + to_tree(describe_threads());
}

}  // namespace bide
