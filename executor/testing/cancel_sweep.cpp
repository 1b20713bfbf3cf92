#include <bide/executor/testing/cancel_sweep.hpp>

#include <algorithm>
#include <exception>
#include <ostream>

// Of the sanitizers' runtime; null in a build without.
extern "C" [[gnu::weak]] int __lsan_do_recoverable_leak_check();
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();

namespace bide::testing {

namespace {

// Follows one thread, from outside of the run: it only reads.
class Watch final : public Observer {
 public:
  explicit Watch(std::uint64_t victim) : victim_(victim) {}

  void submitted(const GreenThread& thread) override {
    last_id_ = std::max(last_id_, thread.id);
    if (thread.id == victim_) thread_ = &thread;
    note(thread);
  }
  void resumed(const GreenThread& thread, Instant) override { note(thread); }
  void woken(const GreenThread& thread, Instant) override { note(thread); }
  void ended(const GreenThread& thread, Instant) override {
    if (thread.id == victim_) thread_ = nullptr;
  }

  // Something has happened to the victim since the last call, and it is alive.
  bool at_a_point() { return std::exchange(noted_, false) && thread_ != nullptr; }
  const GreenThread& thread() const { return *thread_; }
  std::uint64_t last_id() const { return last_id_; }

 private:
  void note(const GreenThread& thread) { noted_ = noted_ || thread.id == victim_; }

  std::uint64_t victim_;
  const GreenThread* thread_ = nullptr;
  bool noted_ = false;
  std::uint64_t last_id_ = 0;
};

struct Run {
  std::size_t points = 0;         // that it came to
  std::uint64_t last_thread = 0;  // id
  std::string cancelled_at;       // where the victim was
  std::string failure;            // empty: none
};

// Lines become clauses: after a colon a blank is enough.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      while (!line.empty() && line.back() == ' ') line.pop_back();
      if (line.empty()) continue;
      line += line.back() == ':' || line.back() == ';' ? " " : "; ";
    } else if (c != ' ' || (!line.empty() && line.back() != ' ')) {
      line += c;
    }
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == ';')) line.pop_back();
  return line;
}

std::size_t allocated_bytes() {
  return __sanitizer_get_current_allocated_bytes != nullptr ? __sanitizer_get_current_allocated_bytes() : 0;
}

std::size_t allocated_bytes_of(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0;
}

// Step by step from outside: between two steps no thread runs, and a cancel is a plain call.
void drive(Executor& executor, Watch& watch, std::size_t cancel_at, const CancelSweepOptions& options,
           Run& run) {
  for (std::uint64_t resumes = 0;; ++resumes) {
    if (watch.at_a_point() && ++run.points == cancel_at) {
      run.cancelled_at = to_string(describe(watch.thread()));
      executor.cancel(watch.thread().id);
    }
    if (resumes > options.most_resumes) {
      run.failure = "the run does not end: " + std::to_string(options.most_resumes) + " resumes";
      return;
    }
    if (!executor.run_one()) break;
  }
  executor.run();  // nothing is left to run: it returns at once, or tells who is stuck
}

Run run_once(const std::function<CancelSweepCheck(Executor&)>& scenario, const CancelSweepOptions& options,
             std::uint64_t victim, std::size_t cancel_at) {
  Run run;
  Watch watch(victim);
  ExecutorOptions executor_options = options.executor;
  executor_options.time = TimeMode::virtual_time;
  executor_options.clock = nullptr;
  executor_options.observer = &watch;
  CancelSweepCheck check;  // outlives the threads: they use what it captures
  {
    Executor executor(executor_options);
    try {
      check = scenario(executor);
      drive(executor, watch, cancel_at, options, run);
      if (run.failure.empty() && executor.size() != 0) {
        run.failure = "the run is over, and threads are alive: " + std::to_string(executor.size());
      }
    } catch (const Deadlock& deadlock) {
      run.failure = deadlock.what();
    } catch (const std::exception& error) {
      run.failure = std::string("an error left the run: ") + error.what();
    } catch (...) {
      run.failure = "an error left the run";
    }
  }
  run.last_thread = watch.last_id();
  if (!run.failure.empty()) return run;
  try {
    run.failure = check();
  } catch (const std::exception& error) {
    run.failure = std::string("the check throws: ") + error.what();
  } catch (const Cancelled&) {
    run.failure = "the check throws Cancelled";
  } catch (...) {
    run.failure = "the check throws something that is no std::exception";
  }
  return run;
}

// LeakSanitizer stops the process for milliseconds: it is asked only when a run leaves more memory in use. What
// leaked once leaks for good, so that also tells one run's leak from another's.
Run run_and_look_for_leaks(const std::function<CancelSweepCheck(Executor&)>& scenario,
                           const CancelSweepOptions& options, std::uint64_t victim, std::size_t cancel_at) {
  const std::size_t before = allocated_bytes();
  Run run = run_once(scenario, options, victim, cancel_at);
  const std::size_t own = allocated_bytes_of(run.cancelled_at) + allocated_bytes_of(run.failure);
  if (run.failure.empty() && allocated_bytes() > before + own &&
      __lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0) {
    run.failure = "memory leaks";
  }
  return run;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const CancelSweepReport& report) {
  out << report.points << " cancel points, " << report.failures.size() << " failures";
  for (const std::string& failure : report.failures) out << "\n  " << failure;
  return out;
}

CancelSweepReport sweep_cancel_points(const std::function<CancelSweepCheck(Executor&)>& scenario,
                                      const CancelSweepOptions& options) {
  CancelSweepReport report;
  const bool each = options.victim == CancelSweepOptions::each_thread;
  std::uint64_t last_victim = each ? 1 : options.victim;
  for (std::uint64_t victim = last_victim; victim <= last_victim; ++victim) {
    const Run plain = run_and_look_for_leaks(scenario, options, victim, 0);
    if (!plain.failure.empty()) {
      report.failures.push_back("without a cancel: " + in_one_line(plain.failure));
      return report;
    }
    if (each) last_victim = plain.last_thread;
    for (std::size_t point = 1; point <= plain.points; ++point) {
      const Run run = run_and_look_for_leaks(scenario, options, victim, point);
      ++report.points;
      if (run.failure.empty()) continue;
      report.failures.push_back("cancel point " + std::to_string(point) + ", " +
                                in_one_line(run.cancelled_at) + ": " + in_one_line(run.failure));
    }
  }
  if (report.points == 0) report.failures.push_back("no cancel point: the victim was never there");
  return report;
}

}  // namespace bide::testing
