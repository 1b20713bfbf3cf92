#include <bide/executor/jobs/scheduler_waits.hpp>

#include <utility>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

void SchedulerWait::hold_engine() {
  engine_.hold();
  holds_engine_ = true;
}
void SchedulerWait::let_engine_go() noexcept { engine_.let_go(); }

void SchedulerWait::withdraw() noexcept { engine_.withdraw(*this); }

void JobEngine::withdraw(SchedulerWait& wait) noexcept {
  if (wait.list_ != nullptr) {
    wait.list_->remove(wait);
    --submitter_count_;
  } else {
    journal_.forget(wait);
  }
}

void JobEngine::wake(SchedulerWait& wait) { wait.wake(); }

void JobEngine::fail(SchedulerWait& wait, std::exception_ptr error) {
  wait.error_ = std::move(error);
  wait.wake();
}

JobEngine::Placed JobEngine::await_kept(AwaitKept& wait) {
  rethrow_store_error();
  return journal_.tell_when_kept(wait) ? Placed::waits : Placed::now;
}

// ---- the awaits

void SubmitJob::let_entry_go() noexcept { engine_.let_go(*entry_); }
void TakeLease::let_entry_go() noexcept { engine_.let_go(*entry_); }

bool SubmitJob::await_ready() { return enter() || is_over(engine_.submit(*this) == JobEngine::Placed::now); }
bool TakeLease::await_ready() { return enter() || is_over(engine_.lease(*this) == JobEngine::Placed::now); }
bool ReportLease::await_ready() {
  return enter() || is_over(engine_.report(*this) == JobEngine::Placed::now);
}
bool AwaitKept::await_ready() {
  return enter() || is_over(engine_.await_kept(*this) == JobEngine::Placed::now);
}

std::optional<Lease> TakeLease::await_resume() {
  finish_or_throw();
  std::optional<Lease> lease;
  if (entry_ != nullptr) JobEngine::fill_lease(lease.emplace(), *entry_);
  return lease;
}

std::string SubmitJob::describe() const { return "room in pool '" + job_.pool + "', or the store"; }

}  // namespace bide
