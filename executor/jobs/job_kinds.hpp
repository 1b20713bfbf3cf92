#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <bide/executor/jobs/job_work.hpp>
#include <bide/executor/jobs/same_name.hpp>

namespace bide {

/// Jobs of one name: what does them when they bring no work of their own.
struct JobKind {
  std::string name;
  std::shared_ptr<JobWork> handler;  // shared with the attempts under way
  std::size_t users = 0;
};

/// The kinds of a scheduler. One is known while it has a handler, or users: jobs that are known, and the threads of
/// attempts, which are called by its name. So there are no more of them than of those, and the one asked for last.
///
/// Cost: O(1) for the one asked for last, else O(log kinds); no allocation for one that is known.
class JobKinds {
 public:
  /// Null where it is not known.
  const JobKind* find(std::string_view name) { return look_up(name); }
  /// Counts one more user of it.
  JobKind& use(std::string_view name) {
    JobKind* const known = look_up(name);
    JobKind& kind = known != nullptr ? *known : add(name);
    ++kind.users;
    return kind;
  }
  void let_go(JobKind& kind) noexcept {
    if (--kind.users == 0 && &kind != last_) drop_unused(kind);
  }
  void handle(std::string_view name, JobWork work);

 private:
  JobKind* look_up(std::string_view name) {
    return last_ != nullptr && same_name(last_->name, name) ? last_ : look_up_other(name);
  }
  JobKind* look_up_other(std::string_view name);
  JobKind& add(std::string_view name);
  void drop_unused(const JobKind& kind) noexcept;

  std::map<std::string, std::unique_ptr<JobKind>, std::less<>> kinds_;
  JobKind* last_ = nullptr;  // asked for last; kept without a user, since most often it is asked for again
};

}  // namespace bide
