#include <bide/executor/testing/lesson.hpp>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <bide/executor/executor.hpp>

namespace bide::testing {
namespace {

class TraceRecorder final : public Observer {
 public:
  explicit TraceRecorder(std::vector<std::uint64_t>& trace) : trace_(trace) {}
  void resumed(const GreenThread& thread, Instant) override { trace_.push_back(thread.id); }

 private:
  std::vector<std::uint64_t>& trace_;
};

// Held at the ends of the range, as all of the executor's time is.
Duration in_time(std::int64_t units, Duration unit) {
  std::int64_t time = 0;
  if (!__builtin_mul_overflow(units, unit.count(), &time)) return Duration(time);
  return units < 0 ? Duration::min() : Duration::max();
}

std::int64_t in_units(Instant instant, Duration unit) { return instant.time_since_epoch() / unit; }

// Everything it refers to outlives the executor.
Task<> follow(const Program& program, Duration unit, std::vector<Handle<>>& handles,
              std::vector<Wake>& wakes) {
  for (const Step& step : program.steps) {
    switch (step.kind) {
      case Step::Kind::sleep:
        co_await Sleep(in_time(step.operand, unit));
        wakes.push_back({program.id, in_units(now(), unit)});
        break;
      case Step::Kind::yield:
        co_await Yield();
        break;
      case Step::Kind::join:
        co_await handles[static_cast<std::size_t>(step.operand - 1)];
        break;
    }
  }
}

void check_join(const Program& program, std::int64_t other, std::vector<bool>& joined) {
  const std::string what =
      "lesson: program " + std::to_string(program.id) + " joins " + std::to_string(other);
  if (other < 1 || std::cmp_greater(other, joined.size()))
    throw std::invalid_argument(what + ", which is not there");
  if (std::cmp_equal(other, program.id)) throw std::invalid_argument(what + ", which is itself");
  std::vector<bool>::reference before = joined[static_cast<std::size_t>(other - 1)];
  if (before) throw std::invalid_argument(what + ", which is joined already");
  before = true;
}

// Two columns and a mark at the first row in which they differ.
class SideBySide {
 public:
  SideBySide() { row("", "expected", "actual", ""); }

  void compare(const std::string& name, const std::string& expected, const std::string& actual) {
    const bool first_difference = same_ && expected != actual;
    same_ = same_ && expected == actual;
    row(name, expected, actual, first_difference ? "  <-- first difference" : "");
  }

  template <class Entry, class Text>
  void compare_lists(const std::string& name, const std::vector<Entry>& expected,
                     const std::vector<Entry>& actual, Text text) {
    const auto cell = [&](const std::vector<Entry>& list, std::size_t i) {
      return i < list.size() ? text(list[i]) : std::string("-");
    };
    for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
      compare(name + " " + std::to_string(i + 1), cell(expected, i), cell(actual, i));
    }
  }

  std::string take_text() { return std::move(text_); }

 private:
  static constexpr std::size_t name_width = 12;
  static constexpr std::size_t column_width = 14;

  void row(std::string_view name, std::string_view expected, std::string_view actual, std::string_view mark) {
    append(name, name_width);
    append(expected, column_width);
    append(actual, mark.empty() ? 0 : column_width);
    text_.append(mark);
    text_ += '\n';
  }
  void append(std::string_view cell, std::size_t width) {
    text_.append(cell);
    if (cell.size() < width) text_.append(width - cell.size(), ' ');
  }

  std::string text_;
  bool same_ = true;
};

}  // namespace

Verdict::Verdict(const Timeline& expected, const Timeline& actual) : as_expected_(expected == actual) {
  SideBySide table;
  table.compare_lists("trace", expected.trace, actual.trace,
                      [](std::uint64_t id) { return std::to_string(id); });
  table.compare_lists("wake", expected.wakes, actual.wakes, [](const Wake& wake) {
    return std::to_string(wake.program) + '@' + std::to_string(wake.now);
  });
  table.compare("now", std::to_string(expected.now), std::to_string(actual.now));
  table.compare("ticks", std::to_string(expected.ticks), std::to_string(actual.ticks));
  text_ = table.take_text();
}

std::ostream& operator<<(std::ostream& out, const Verdict& verdict) { return out << '\n' << verdict.text(); }

Lesson::Lesson(std::vector<Program> programs, Duration unit) : programs_(std::move(programs)), unit_(unit) {
  if (unit_ <= Duration::zero()) throw std::invalid_argument("lesson: the unit is not positive");
  std::vector<bool> joined(programs_.size());
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    const Program& program = programs_[i];
    if (program.id != i + 1) {
      throw std::invalid_argument("lesson: program " + std::to_string(program.id) + " stands at place " +
                                  std::to_string(i + 1) + "; ids are 1, 2, 3... in the order of submission");
    }
    for (const Step& step : program.steps) {
      if (step.kind == Step::Kind::join) check_join(program, step.operand, joined);
    }
  }
}

Timeline Lesson::run() const {
  Timeline timeline;
  TraceRecorder recorder(timeline.trace);
  std::vector<Handle<>> handles;
  handles.reserve(programs_.size());
  Executor executor({.time = TimeMode::virtual_time, .observer = &recorder});
  for (const Program& program : programs_) {
    handles.push_back(
        executor.submit(follow(program, unit_, handles, timeline.wakes), {.priority = program.priority}));
  }
  executor.run();
  timeline.now = in_units(executor.now(), unit_);
  timeline.ticks = executor.ticks();
  return timeline;
}

}  // namespace bide::testing
