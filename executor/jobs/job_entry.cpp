#include <bide/executor/jobs/job_entry.hpp>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

namespace {
const std::string no_text;
const RetryPolicy no_retry;
}  // namespace

const std::string& JobEntry::payload() const { return extras == nullptr ? no_text : extras->payload; }
const std::string& JobEntry::tenant() const { return extras == nullptr ? no_text : extras->tenant; }
const RetryPolicy& JobEntry::retry() const { return extras == nullptr ? no_retry : extras->retry; }

JobEngine& JobEntry::engine() const { return pool->engine; }

void JobEntry::set_alarm(Executor& executor, Instant at) {
  arm(executor, at);
  due_at = at;
  engine().alarm_set();
}

void JobEntry::disarm_alarm() noexcept {
  disarm();
  engine().alarm_cleared();
}

void JobEntry::due() noexcept {
  engine().alarm_cleared();
  engine().alarm_due(*this);
}

}  // namespace bide
