#include <bide/executor/report.hpp>

#include <cinttypes>
#include <cstdio>

#include <bide/executor/executor.hpp>
#include <bide/executor/group_scope.hpp>
#include <bide/executor/sleep.hpp>

namespace bide {

namespace {

// Names may come from outside: a control character must not forge a line of a report.
std::string printable(const std::string& text) {
  std::string out;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte != 0x7f) {
      out += character;
    } else {
      char escape[5];
      std::snprintf(escape, sizeof escape, "\\x%02x", byte);
      out += escape;
    }
  }
  return out;
}

const char* describe_state(Runnable::State state) {
  switch (state) {
    case Runnable::State::ready:
      return "is ready";
    case Runnable::State::running:
      return "is running";
    default:
      return "has ended";
  }
}

void describe_wait(const Wait& wait, ThreadReport& report) {
  report.state = "waits for " + (wait.gone() ? "something that was destroyed" : printable(wait.describe()));
  report.waits_at = wait.where();
  report.since = wait.since();
  if (wait.gone()) return;
  report.taken_at = wait.taken_at();
  for (const GreenThread* other : wait.waits_for()) report.waits_for.push_back(other->id);
  report.remedy = printable(wait.remedy());
}

}  // namespace

std::string line_of(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

ThreadReport describe(const GreenThread& thread) {
  ThreadReport report;
  report.id = thread.id;
  if (thread.name != nullptr) report.name = printable(thread.name);
  report.priority = thread.own_priority;
  report.rank = thread.rank;
  report.cancelled = thread.cancelled != 0 || thread.cancel_requested != 0;
  report.state = describe_state(thread.state);
  report.submitted_at = thread.submitted_at();
  report.waits_at = report.submitted_at;
  if (thread.state == Runnable::State::sleeping) {
    report.state = "sleeps until " + to_string(thread.executor->timers_.due(thread).time_since_epoch());
    report.waits_at = thread.sleep().where();
    report.since = thread.sleep().time_;
  }
  if (thread.state == Runnable::State::waiting) describe_wait(thread.wait(), report);
  for (const Frame* frame = thread.leaf; frame != &thread.root(); frame = frame->result->awaiting) {
    if (line_of(frame->where) == line_of(report.submitted_at)) continue;  // submit(options, function, ...)
    report.awaits.push_back(frame->where);
  }
  if (const GreenThread* owner = GroupScope::owner_of(thread); owner != nullptr)
    report.group_owner = owner->id;
  return report;
}

std::string to_string(const ThreadReport& thread) {
  constexpr std::size_t most_awaits = 16;
  std::string text = "thread " + std::to_string(thread.id);
  if (!thread.name.empty()) text += " \"" + thread.name + "\"";
  text += std::string(" (") + to_string(thread.priority);
  if (thread.rank != thread.priority) text += std::string(", runs as ") + to_string(thread.rank);
  text += (thread.cancelled ? ", cancelled) " : ") ") + thread.state;
  if (thread.taken_at) text += " (locked at " + line_of(*thread.taken_at) + ")";
  if (line_of(thread.waits_at) != line_of(thread.submitted_at)) text += " at " + line_of(thread.waits_at);
  if (thread.since) text += " since " + to_string(thread.since->time_since_epoch());
  for (std::size_t await = 0; await < thread.awaits.size(); ++await) {
    if (await == most_awaits) {
      text += ", and by " + std::to_string(thread.awaits.size() - most_awaits) + " more";
      break;
    }
    text += ", awaited at " + line_of(thread.awaits[await]);
  }
  return text + "; submitted at " + line_of(thread.submitted_at);
}

std::string to_string(Duration duration) {
  struct Unit {
    const char* name;
    std::uint64_t nanoseconds;
  };
  constexpr Unit units[] = {{" s", 1'000'000'000}, {" ms", 1'000'000}, {" us", 1'000}, {" ns", 1}};
  const bool negative = duration < Duration::zero();
  const auto count = static_cast<std::uint64_t>(duration.count());
  const std::uint64_t magnitude = negative ? 0 - count : count;
  const Unit* unit = &units[0];
  while (magnitude != 0 && magnitude < unit->nanoseconds) ++unit;
  std::string text = negative ? "-" : "";
  text += std::to_string(magnitude / unit->nanoseconds);
  if (const std::uint64_t rest = magnitude % unit->nanoseconds; rest != 0) {
    // The rest with as many digits as the unit has zeros, without those at the end.
    std::string digits = std::to_string(unit->nanoseconds + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text + unit->name;
}

std::string to_string(const ScheduleDigest& digest) {
  char text[33];
  std::snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, digest.high, digest.low);
  return text;
}

}  // namespace bide
