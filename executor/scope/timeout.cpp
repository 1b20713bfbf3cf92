#include <bide/executor/scope/timeout.hpp>

#include <string>

namespace bide {

TimedOut::TimedOut(Duration limit, std::source_location where)
    : std::runtime_error("timed out after " + to_string(limit) + " at " + line_of(where)), where_(where) {}

TimedOut::TimedOut(Instant deadline, std::source_location where)
    : std::runtime_error("the deadline " + to_string(deadline.time_since_epoch()) + " has passed at " +
                         line_of(where)),
      where_(where) {}

DeadlineOfWork::DeadlineOfWork(const Arguments& arguments, std::source_location where)
    : DeadlineScope(arguments.deadline),
      where_(where),
      work_{.latest_start = urgency::latest_start(arguments.deadline.time_since_epoch(), arguments.estimate),
            .horizon = urgency::horizon(arguments.estimate)} {}

void DeadlineOfWork::enter() {
  DeadlineScope::enter();
  urge(work_);
  hurry_.hold(*running.thread);
  hurry_.demand(Priority::low, &work_);
}

}  // namespace bide
