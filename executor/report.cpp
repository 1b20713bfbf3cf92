#include <bide/executor/report.hpp>

#include <cinttypes>
#include <cstdio>

#include <bide/executor/executor.hpp>

namespace bide {

namespace {

std::string line_of(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

std::string describe_state(const GreenThread& thread) {
  switch (thread.state) {
    case Runnable::State::ready: return "is ready";
    case Runnable::State::running: return "is running";
    case Runnable::State::sleeping: return "sleeps until " + to_string(thread.sleep().due().time_since_epoch());
    case Runnable::State::waiting: return "waits for " + thread.wait().describe();
    case Runnable::State::ended:
    case Runnable::State::posted: break;
  }
  return "has ended";
}

// Names may come from outside: a control character must not forge a line of a report.
std::string printable(const char* text) {
  std::string out;
  for (; *text != '\0'; ++text) {
    const auto byte = static_cast<unsigned char>(*text);
    if (byte >= 0x20 && byte != 0x7f) {
      out += *text;
    } else {
      char escape[5];
      std::snprintf(escape, sizeof escape, "\\x%02x", byte);
      out += escape;
    }
  }
  return out;
}

// The ids along "waits for", from the first thread that lies on a circle. Empty: there is none.
std::string describe_cycle(const std::vector<ThreadReport>& threads) {
  const auto waits_for = [&](std::uint64_t id) -> std::uint64_t {
    for (const ThreadReport& thread : threads) {
      if (thread.id == id) return thread.waits_for.value_or(0);
    }
    return 0;
  };
  for (const ThreadReport& first : threads) {
    std::string path = std::to_string(first.id);
    std::uint64_t id = waits_for(first.id);
    for (std::size_t steps = 0; id != 0 && steps < threads.size(); ++steps, id = waits_for(id)) {
      path += " -> " + std::to_string(id);
      if (id == first.id) return path;
    }
  }
  return {};
}

std::string describe_deadlock(Instant now, const std::vector<ThreadReport>& threads) {
  std::string text = "deadlock at " + to_string(now.time_since_epoch()) + ": " + std::to_string(threads.size()) +
                     (threads.size() == 1 ? " thread waits" : " threads wait") + " and nothing can wake " +
                     (threads.size() == 1 ? "it" : "them");
  if (const std::string cycle = describe_cycle(threads); !cycle.empty()) {
    text += "\n  in a cycle: " + cycle;
  }
  for (const ThreadReport& thread : threads) text += "\n  " + to_string(thread);
  return text;
}

}  // namespace

ThreadReport describe(const GreenThread& thread) {
  ThreadReport report;
  report.id = thread.id;
  if (thread.name != nullptr) report.name = printable(thread.name);
  report.priority = thread.own_priority;
  report.state = describe_state(thread);
  report.submitted_at = thread.submitted_at();
  report.waits_at = report.submitted_at;
  if (thread.state == Runnable::State::sleeping) report.waits_at = thread.sleep().where();
  if (thread.state == Runnable::State::waiting) {
    report.waits_at = thread.wait().where();
    if (const GreenThread* other = thread.wait().waits_for(); other != nullptr) report.waits_for = other->id;
  }
  for (const Frame* frame = thread.leaf; frame != &thread.root(); frame = frame->result->awaiting) {
    report.awaits.push_back(frame->where);
  }
  return report;
}

std::string to_string(const ThreadReport& thread) {
  std::string text = "thread " + std::to_string(thread.id);
  if (!thread.name.empty()) text += " \"" + thread.name + "\"";
  text += std::string(" (") + to_string(thread.priority) + ") " + thread.state;
  if (line_of(thread.waits_at) != line_of(thread.submitted_at)) text += " at " + line_of(thread.waits_at);
  for (const std::source_location& await : thread.awaits) text += ", awaited at " + line_of(await);
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
  std::string text = (negative ? "-" : "") + std::to_string(magnitude / unit->nanoseconds);
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

Deadlock::Deadlock(Instant now, std::vector<ThreadReport> threads)
    : std::runtime_error(describe_deadlock(now, threads)),
      threads_(std::make_shared<const std::vector<ThreadReport>>(std::move(threads))) {}

}  // namespace bide
