#include "after_names.hpp"

#include "quoted.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace bide_jobs {
namespace {

constexpr std::pair<std::string_view, After::On> endings[] = {{":done", After::On::completion},
                                                              {":failed", After::On::failure}};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Looks for jobs that wait for each other, by depth, without recursion: a file may be one long chain.
class CycleSearch {
 public:
  explicit CycleSearch(std::size_t job_count) : parents_(job_count), state_(job_count) {}

  void add(std::size_t job, std::size_t parent) { parents_[job].push_back(parent); }

  /// The first cycle in the order of the jobs, its first job at both ends; empty when there is none.
  const std::vector<std::size_t>& find() {
    for (std::size_t job = 0; job < parents_.size() && cycle_.empty(); ++job) {
      if (state_[job] == State::fresh) descend(job);
    }
    return cycle_;
  }

 private:
  enum class State : unsigned char { fresh, on_path, done };

  void descend(std::size_t from) {
    std::vector<std::pair<std::size_t, std::size_t>> path;  // a job, and which parent is next
    path.emplace_back(from, 0);
    state_[from] = State::on_path;
    while (!path.empty()) {
      const std::size_t job = path.back().first;
      if (path.back().second == parents_[job].size()) {
        state_[job] = State::done;
        path.pop_back();
        continue;
      }
      const std::size_t parent = parents_[job][path.back().second++];
      if (state_[parent] == State::on_path) {
        auto start = std::find_if(path.begin(), path.end(),
                                  [parent](const auto& step) { return step.first == parent; });
        for (; start != path.end(); ++start) cycle_.push_back(start->first);
        cycle_.push_back(parent);
        return;
      }
      if (state_[parent] == State::done) continue;
      state_[parent] = State::on_path;
      path.emplace_back(parent, 0);
    }
  }

  std::vector<std::vector<std::size_t>> parents_;
  std::vector<State> state_;
  std::vector<std::size_t> cycle_;
};

}  // namespace

void AfterNames::add(std::string_view field, Position position) {
  for (std::size_t begin = 0; begin <= field.size();) {
    const std::size_t end = std::min(field.find(';', begin), field.size());
    std::string_view name = trimmed(field.substr(begin, end - begin));
    begin = end + 1;
    Mention mention;
    mention.job = job_;
    mention.position = position;
    for (const auto& [ending, on] : endings) {
      if (name.size() <= ending.size() || name.substr(name.size() - ending.size()) != ending) continue;
      name.remove_suffix(ending.size());
      mention.on = on;
    }
    mention.name = name;
    mentions_.push_back(std::move(mention));
  }
}

void AfterNames::resolve(std::vector<Job>& jobs, const std::string& source) const {
  if (mentions_.empty()) return;
  std::map<std::string_view, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) places[jobs[i].name].push_back(i);

  CycleSearch search(jobs.size());
  for (const Mention& mention : mentions_) {
    const auto found = places.find(mention.name);
    if (found == places.end()) {
      throw InputError(source, mention.position,
                       "expected the name of a job in this file, found " + quoted(mention.name));
    }
    if (found->second.size() > 1) {
      throw InputError(source, mention.position,
                       "expected a name that one job has, found " + quoted(mention.name) + " of lines " +
                           std::to_string(jobs[found->second[0]].line) + " and " +
                           std::to_string(jobs[found->second[1]].line));
    }
    const std::size_t parent = found->second.front();
    if (jobs[parent].every || !jobs[parent].cron.empty()) {
      throw InputError(source, mention.position,
                       "expected a job that does not recur, found " + quoted(mention.name));
    }
    jobs[mention.job].after.push_back({jobs[parent].line, mention.on});
    search.add(mention.job, parent);
  }

  const std::vector<std::size_t>& cycle = search.find();
  if (cycle.empty()) return;
  std::string text;
  for (std::size_t job : cycle)
    text += (text.empty() ? std::string() : std::string(" after ")) + word(jobs[job].name);
  const auto blamed = std::find_if(mentions_.begin(), mentions_.end(),
                                   [&](const Mention& mention) { return mention.job == cycle.front(); });
  throw InputError(source, blamed->position, "expected jobs that don't wait for each other, found " + text);
}

}  // namespace bide_jobs
