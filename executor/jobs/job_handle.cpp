#include <bide/executor/jobs/job_handle.hpp>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

JobHandle::JobHandle(JobEntry& entry) noexcept : entry_(&entry) { entry_->engine().hold(*entry_); }

JobHandle::JobHandle(const JobHandle& other) noexcept : entry_(other.entry_) {
  if (entry_ != nullptr) entry_->engine().hold(*entry_);
}

JobHandle::~JobHandle() {
  if (entry_ != nullptr) entry_->engine().let_go(*entry_);
}

JobId JobHandle::id() const { return entry_->id; }
JobStatus JobHandle::status() const { return entry_->status; }
std::uint32_t JobHandle::attempts() const { return entry_->attempts; }
bool JobHandle::reserved() const { return entry_->reserved; }
bool JobHandle::cancel() { return entry_->engine().cancel(*entry_); }

std::optional<JobResult> JobHandle::result() const {
  if (!ended()) return std::nullopt;
  return entry_->engine().result_of(*entry_);
}

JobResult JobEngine::result_of(const JobEntry& entry) const {
  return {.status = entry.status,
          .outcome = entry.outcome,
          .attempts = entry.attempts,
          .submitted = entry.submitted,
          .started = entry.attempts == 0 ? entry.ended : entry.started,
          .ended = entry.ended};
}

JobResult JobHandle::End::await_resume() const {
  finish();
  if (handle_.entry_->unkept) handle_.entry_->engine().rethrow_store_error();
  return handle_.entry_->engine().result_of(*handle_.entry_);
}

void JobHandle::End::link() {
  JobHandle::End** place = &handle_.entry_->first_waiter;
  while (*place != nullptr) place = &(*place)->next_;
  *place = this;
}

void JobHandle::End::withdraw() noexcept {
  JobHandle::End** place = &handle_.entry_->first_waiter;
  while (*place != this) place = &(*place)->next_;
  *place = next_;
}

std::string JobHandle::End::describe() const {
  return "job " + std::to_string(handle_.id()) + " of kind '" + handle_.entry_->kind->name + "' to end";
}

}  // namespace bide
