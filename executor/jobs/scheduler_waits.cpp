#include <bide/executor/jobs/scheduler_waits.hpp>

#include <utility>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

SchedulerWait::SchedulerWait(JobEngine& engine, std::source_location where) : Wait(where), engine_(engine) {
  engine_.hold();
}

SchedulerWait::~SchedulerWait() { engine_.let_go(); }

void SchedulerWait::withdraw() noexcept { engine_.withdraw(*this); }

void SchedulerWait::finish_or_throw() const {
  finish();
  if (error_ != nullptr) std::rethrow_exception(error_);
}

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

SubmitJob::SubmitJob(JobEngine& engine, Job& job, std::source_location where)
    : SchedulerWait(engine, where), job_(job) {}

SubmitJob::SubmitJob(JobEngine& engine, std::unique_ptr<Job> job, std::source_location where)
    : SchedulerWait(engine, where), own_(std::move(job)), job_(*own_) {}

SubmitJob::~SubmitJob() {
  if (entry_ != nullptr) engine_.let_go(*entry_);
}

bool SubmitJob::await_ready() { return enter() || engine_.submit(*this) == JobEngine::Placed::now; }

JobHandle SubmitJob::await_resume() {
  finish_or_throw();
  return JobHandle(*std::exchange(entry_, nullptr), JobHandle::Held());
}

std::string SubmitJob::describe() const { return "room in pool '" + job_.pool + "', or the store"; }

TakeLease::TakeLease(JobEngine& engine, std::string_view pool, Duration ttl, std::source_location where)
    : SchedulerWait(engine, where), pool_(pool), ttl_(ttl) {}

TakeLease::~TakeLease() {
  if (entry_ != nullptr) engine_.let_go(*entry_);
}

bool TakeLease::await_ready() { return enter() || engine_.lease(*this) == JobEngine::Placed::now; }

std::optional<Lease> TakeLease::await_resume() {
  finish_or_throw();
  std::optional<Lease> lease;
  if (entry_ != nullptr) JobEngine::fill_lease(lease.emplace(), *entry_);
  return lease;
}

bool AwaitKept::await_ready() { return enter() || engine_.await_kept(*this) == JobEngine::Placed::now; }

ReportLease::ReportLease(JobEngine& engine, JobId id, std::uint32_t attempt, JobOutcome&& outcome,
                         std::source_location where)
    : SchedulerWait(engine, where), id_(id), attempt_(attempt), outcome_(std::move(outcome)) {}

ReportLease::~ReportLease() = default;

bool ReportLease::await_ready() { return enter() || engine_.report(*this) == JobEngine::Placed::now; }

Reported ReportLease::await_resume() {
  finish_or_throw();
  return answer_;
}

// ---- who makes them: here, where their constructors can be seen

SubmitJob JobScheduler::submit(Job&& job, std::source_location where) {
  return SubmitJob(*engine_, job, where);
}
SubmitJob JobScheduler::submit(const Job& job, std::source_location where) {
  return SubmitJob(*engine_, std::make_unique<Job>(job), where);
}
TakeLease JobScheduler::lease(std::string_view pool, Duration ttl, std::source_location where) {
  return TakeLease(*engine_, pool, ttl, where);
}
ReportLease JobScheduler::report(JobId id, std::uint32_t attempt, JobOutcome outcome,
                                 std::source_location where) {
  return ReportLease(*engine_, id, attempt, std::move(outcome), where);
}

}  // namespace bide
