#include <bide/executor/jobs/job_kinds.hpp>

#include <utility>

namespace bide {

void JobKinds::handle(std::string_view name, JobWork work) {
  JobKind& kind = use(name);
  kind.handler = work ? std::make_shared<JobWork>(std::move(work)) : nullptr;
  let_go(kind);
}

JobKind* JobKinds::look_up_other(std::string_view name) {
  const auto found = kinds_.find(name);
  if (found == kinds_.end()) return nullptr;
  const JobKind* const before = std::exchange(last_, found->second.get());
  if (before != nullptr && before->users == 0) drop_unused(*before);
  return last_;
}

JobKind& JobKinds::add(std::string_view name) {
  auto kind = std::make_unique<JobKind>();
  kind->name = name;
  return *kinds_.emplace(kind->name, std::move(kind)).first->second;
}

void JobKinds::drop_unused(const JobKind& kind) noexcept {
  if (!kind.handler) kinds_.erase(kinds_.find(kind.name));
}

}  // namespace bide
