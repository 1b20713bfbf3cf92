#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include <bide/executor/attached_errors.hpp>
#include <bide/executor/cancelled.hpp>
#include <bide/executor/choice.hpp>
#include <bide/executor/deadlock.hpp>
#include <bide/executor/driver.hpp>
#include <bide/executor/green_thread.hpp>
#include <bide/executor/observer.hpp>
#include <bide/executor/post.hpp>
#include <bide/executor/report.hpp>
#include <bide/executor/task.hpp>
#include <bide/executor/thread_table.hpp>
#include <bide/queue/queue_full.hpp>
#include <bide/queue/run_queue.hpp>
#include <bide/timers/clock.hpp>
#include <bide/timers/instant.hpp>
#include <bide/timers/lateness.hpp>
#include <bide/timers/timer_list.hpp>

namespace bide {

class BlockingPool;
class DeadlineScope;
class ExecutorGuest;
class OperationWait;
class OutsideWork;

enum class TimeMode : std::uint8_t {
  real_time,     // CLOCK_MONOTONIC; run waits for what is due
  virtual_time,  // starts at 0 and jumps to the next deadline when nothing can run
};

struct ExecutorOptions {
  TimeMode time = TimeMode::real_time;
  /// How many threads may be alive at once; the next submit is refused.
  std::size_t capacity = std::size_t{1} << 20U;
  /// After every pop of this number the oldest waiting thread below `high` rises a class. 0: never.
  std::uint64_t promote_every = 0;
  /// Told of every event; must outlive the executor.
  Observer* observer = nullptr;
  /// With `on`, RunReport::digest is set.
  enum class Digest : std::uint8_t { off, on } digest = Digest::off;
  /// A resume that takes longer than this in real time is told to `Observer::stalled`. 0: not measured.
  Duration stall_threshold{};
  /// Virtual time: more turns, of threads and posts, than this without time moving or a thread ending are a Livelock.
  /// 0: never.
  std::uint64_t livelock_after = 0;
  /// Decides what is left open; must outlive the executor. nullptr: the order as it is documented.
  Chooser* chooser = nullptr;
  /// Real time: how many resumes the loop does before it looks at timers and posts again. At least 1.
  std::uint32_t resumes_per_turn = 64;
  /// Real time: where the time comes from; must outlive the executor. nullptr: CLOCK_MONOTONIC.
  Clock* clock = nullptr;
  /// Real time: when threads wait and neither a timer nor a thread could wake them, only a post can. How long
  /// to wait for one before that counts as a Deadlock. Duration::max(): for ever, for a program that is fed by
  /// posts alone.
  Duration deadlock_after = std::chrono::seconds(5);
  /// Real I/O: which driver, and with what means.
  DriverOptions io{};
  /// How many OS threads at most do blocking work: `offload`, and files where the driver has no way of its own.
  std::size_t blocking_threads = 4;
  /// Virtual time stands still while a real operation is in flight. After so much real time in which none ended, `run`
  /// throws OperationStuck. Duration::max(): never.
  Duration operation_watchdog = std::chrono::seconds(30);
};

/// Trivially destructible on purpose: g++ 12 destroys other temporaries in a co_await expression twice.
struct SubmitOptions {
  /// Shown in reports. Not copied: a string literal, or text that outlives the thread.
  const char* name = nullptr;
  /// Unset: the submitting thread's own class; normal outside any thread.
  std::optional<Priority> priority{};
  /// When the thread has to be done. It raises the thread's urgency as its latest start time, the deadline
  /// minus `duration_hint`, comes near (queue/urgency.hpp). With both, the earlier counts.
  std::optional<Instant> deadline{};
  std::optional<Duration> deadline_in{};
  /// How long the work takes once it runs. Unset: one second.
  std::optional<Duration> duration_hint{};
  /// Left alone: the line of the submit.
  std::source_location where = std::source_location::current();

  /// Nothing is set, but for the line.
  bool plain() const { return name == nullptr && !priority && !deadline && !deadline_in; }
};

/// Runs green threads: one loop, one OS thread, one order.
///
///     Executor executor({.time = TimeMode::virtual_time});
///     executor.submit(worker());
///     executor.run();
///
/// Order:   of ready threads: higher class, then who became ready first; deadlines as queue/order.hpp says.
///          Threads that one instant releases become ready in the order in which they fell asleep.
/// Threads: one OS thread uses an executor at a time, and once it has done I/O with io_uring always the same. From others
///          only `post`, or a Poster.
/// Owns:    every thread submitted. The destructor destroys what is left, the youngest thread first, each from
///          its innermost frame outwards; a submit during that is refused, and Handles see Cancelled.
class Executor {
 public:
  explicit Executor(ExecutorOptions options = {});
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Makes a green thread of the task. It is ready at once, behind all that is, and runs in `run`.
  ///
  /// Returns: a Handle to await, cancel or ask; dropping it detaches the thread.
  /// Throws:  QueueFull when `capacity` threads live, or while the executor stops; nothing has changed then but
  ///          that the task is gone (`try_submit` leaves it with the caller).
  /// Cost:    no allocation beyond the task's own frame, but with a deadline.
  template <class T>
  Handle<T> submit(Task<T> task, const SubmitOptions& options = {});

  /// Moves callable and arguments into the thread, calls `function(arguments...)` there and awaits the task
  /// that it returns. The way to submit a lambda with captures: they live as long as the thread.
  template <class F, class... Args>
  auto submit(const SubmitOptions& options, F function, Args... arguments);

  /// Like submit; nullopt where that throws QueueFull, and the task stays the caller's.
  template <class T>
  std::optional<Handle<T>> try_submit(Task<T>& task, const SubmitOptions& options = {});

  /// Runs `function()` in the loop, at the back of its class, outside of any green thread. What it throws counts
  /// as the error of a detached thread.
  ///
  /// Threads: any, while the executor lives; see Poster for longer. From another OS thread it becomes ready when
  ///          the loop next looks outside, in the order of the calls.
  /// Returns: false when the executor takes no posts any more.
  template <class F>
  bool post(F function, Priority priority = Priority::normal);

  /// For other OS threads, and for longer than the executor lives. Each is a source of its own.
  Poster poster() { return Poster(post_box_, post_box_->next_source()); }

  /// Runs until no thread and no post is left.
  ///
  /// Throws: the first error of a detached thread: the others are cancelled, and run ends when all have ended.
  ///         More errors are in `report()`. Deadlock: no thread can ever run again. Livelock: threads run and get
  ///         nowhere.
  /// May be called again, also after it threw.
  RunReport run();

  /// Runs all that happens up to and including the instant, then sets the clock to it (virtual time: a tick, if
  /// that moves it). Threads may be left, waiting or asleep; that is no Deadlock, since the caller goes on.
  /// In real time each thread that is ready when the instant has gone by has one more turn, and the rest is left.
  /// Throws: the first error of a detached thread, in the call in which the last thread has ended; until then it is
  ///         in the report, and the others are cancelled. Livelock.
  /// Cost:   beside the run, the report: O(n log n) for n threads left.
  RunReport run_until(Instant limit);
  RunReport run_for(Duration duration);

  /// Gives one thread or post its turn, after moving time, or waiting, if none is ready.
  /// Returns: false when there is none, nor will be. Throws: as run_until, also when it would return false.
  bool run_one();

  /// Cancels every thread. Submits are refused until all have ended and `run` has returned. A plain call, from a
  /// thread or outside of the run.
  void stop();

  /// Virtual time: 0 at the start. Real time: CLOCK_MONOTONIC, never going back.
  Instant now() const { return virtual_time_ ? now_ : read_clock(); }
  /// How often virtual time was moved.
  std::uint64_t ticks() const { return ticks_; }
  /// Threads alive.
  std::size_t size() const { return threads_.size(); }
  std::size_t capacity() const { return options_.capacity; }
  /// Its loop is running, here or further out on the stack.
  bool in_run() const { return in_run_; }

  /// How it stands: also after run threw, and from within a thread.
  RunReport report() const;

  /// All threads as text, a line each: id, name, class, state, since when, what it waits for and at which line, and
  /// the awaits around that. Threads of a group stand below the thread that owns it (executor/dump.hpp).
  ///
  /// Only reads: from within a thread, a post or a hook of an Observer, or outside of the run. Time is as the loop
  /// last saw it. A debugger prints the same with executor/gdb/.
  std::string dump() const;

  /// Cancels the thread with this id, as its Handle would. Returns: false when none such is alive.
  bool cancel(std::uint64_t id);

  /// The errors that came after the one that a group threw: in the handler that catches that, which may be around
  /// `run`. Those of the latest 64 such errors are kept.
  std::vector<std::exception_ptr> attached_errors(
      const std::exception_ptr& error = std::current_exception()) const {
    return attached_errors_.of(error);
  }

  /// The driver, if there has been need of one yet: executor/io makes it with the first operation.
  Driver* driver() const { return driver_.get(); }
  /// Requires: there is none.
  void install(std::unique_ptr<Driver> driver);
  /// What a driver has to watch: see PostBox. Throws: std::system_error.
  int wake_descriptor() { return post_box_->wake_descriptor(); }
  /// Made at the first call.
  BlockingPool& blocking_pool();
  const ExecutorOptions& options() const { return options_; }

  /// 0, 1, 2, and so on: for whatever gives turns among equals by counting, as select_fair does among its arms.
  std::uint64_t next_turn() { return turns_++; }

  /// The executor whose thread or post is running. Requires: there is one.
  static Executor& current() {
    require(running.executor != nullptr, "no executor is running on this OS thread");
    return *running.executor;
  }

 private:
  friend class CancelScope;
  friend class DeadlineScope;
  friend class ExecutorGuest;
  friend struct GreenThread;
  friend class GroupScope;
  friend class Obligation;
  friend class OperationWait;
  friend class OutsideWork;
  template <class T>
  friend class Handle;
  friend class ResultSlot;
  friend class SleepUntil;
  friend class TaskPromiseBase;
  friend class TimedCall;
  friend class Wait;
  friend class Yield;
  friend ThreadReport describe(const GreenThread&);

  enum class Phase : std::uint8_t { open, stopping, destroying };
  class Entered;  // makes this the current executor for a scope

  bool admits() const { return phase_ == Phase::open && threads_.size() < options_.capacity; }
  [[noreturn]] void refuse() const;
  GreenThread& admit(Frame& root, const SubmitOptions& options) {
    return options.plain() ? admit_plain(root, options.where) : admit_with_care(root, options);
  }
  GreenThread& admit_plain(Frame& root, std::source_location where);
  // By value: a caller whose options never escape knows at compile time that they are plain.
  GreenThread& admit_with_care(Frame& root, SubmitOptions options);
  Priority inherited_priority() const;
  void enter_phase(Phase phase);
  void note_room();
  void tell_of_room();
  Urgency* make_urgency(const SubmitOptions& options) const;
  bool post_here(Runnable* call) {
    if (phase_ == Phase::destroying) [[unlikely]]
      return drop_post(call);
    try {
      ready_.push(*call);
    } catch (...) {
      drop_post(call);
      throw;
    }
    return true;
  }
  static bool drop_post(Runnable* call);

  // executor/run_loop.cpp
  void drive(Instant limit);
  enum class Watched : bool { no, yes };
  std::uint32_t run_ready(std::uint32_t most);
  template <Watched watched>
  std::uint32_t give_turns(std::uint32_t most);
  QueueNode* choose_ready();
  template <Watched watched>
  void resume(GreenThread& thread);
  void tell_stall(const GreenThread& thread, Instant begun) const;
  void check_progress() const;
  void call(Runnable& posted);
  template <Watched watched>
  void finish(GreenThread& thread);
  void deliver(GreenThread& thread);
  void deliver_error(GreenThread& thread, ResultSlot& result, JoinWait* joiner);
  void destroy(GreenThread& thread) noexcept;
  void make_ready(GreenThread& thread) {
    thread.state = Runnable::State::ready;
    thread.priority = thread.rank;  // a promotion lasts for one turn
    ready_.push(thread);
  }
  void wake(GreenThread& thread) {
    if (tracing_) [[unlikely]]
      return wake_traced(thread);
    make_ready(thread);
  }
  void wake_traced(GreenThread& thread);
  void sleep(GreenThread& thread, SleepUntil& sleep);
  void look_outside();
  void see_time();
  void take_from_outside();
  void release_due(Instant upto);
  bool goes_on(Instant limit);
  bool pass_time(Instant limit);
  bool wait_for_outside();
  void wait_for_operation();
  void wait_outside(Duration longest);
  void move_time(Instant to);
  void arm_entered_deadlines();
  Instant read_clock() const;

  // executor/outside.cpp
  void operation_started() { ++operations_; }
  void operation_ended() {
    --operations_;
    operations_held_.reset();
  }
  void drain_operations() noexcept;

  // executor/executor.cpp
  void begin_run();
  void end_run();
  void cancel(GreenThread& thread);
  void cancel_wait(GreenThread& thread);
  void cancel_all();
  std::vector<GreenThread*> threads_by_id() const;
  std::vector<ThreadReport> describe_threads() const;
  std::vector<ThreadReport> describe_busy_threads() const;
  void trace(const GreenThread& thread, ScheduleDigest::Event event);

  // executor/obligation.cpp
  void rank_again(GreenThread& thread);
  void rank_chain(GreenThread& first);
  static void free_ranking(Urgency* own_urgency, Debts* debts) noexcept;

  // executor/errors.cpp
  void detached_failed(std::exception_ptr error) noexcept;
  void keep_error(ResultSlot& slot);
  void print_errors_not_thrown() const noexcept;
  void throw_errors();

  ExecutorOptions options_;
  RunQueue ready_;
  Instant now_{};             // virtual time; in real time, as of the last look outside
  mutable Instant latest_{};  // real time: the latest that was read
  std::uint64_t resumes_ = 0;
  bool virtual_time_;
  bool tracing_;                           // an observer, or the digest, wants every event
  std::uint64_t resumes_at_progress_ = 0;  // when time last moved, or a thread ended; less the posts since
  bool stall_watch_;
  bool watched_;  // one of these two, or a chooser: turns take the long way
  bool in_run_ = false;
  Phase phase_ = Phase::open;
  TimerList timers_;
  std::unique_ptr<Lateness> lateness_;          // in real time
  DeadlineScope* entered_deadlines_ = nullptr;  // in this turn: armed if the thread suspends inside
  ThreadTable threads_;
  std::size_t easy_count_ = 0;  // with fewer threads than this a plain submit has nothing to consider
  std::uint64_t last_id_ = 0;
  std::uint64_t ticks_ = 0;
  ScheduleDigest digest_;
  std::uint16_t locks_at_end_ = 0;  // of the thread that is being destroyed
  std::uint64_t turns_ = 0;
  std::shared_ptr<PostBox> post_box_;
  std::unique_ptr<BlockingPool> blocking_pool_;
  std::unique_ptr<Driver> driver_;
  std::size_t operations_ = 0;  // that threads wait for
  std::optional<Instant>
      operations_held_;             // since when, in real time, none has ended while virtual time waits
  std::vector<Runnable*> posts_;    // scratch of look_outside
  std::vector<QueueNode*> equals_;  // scratch of next_ready, with a chooser
  std::vector<std::exception_ptr> errors_;  // of detached threads
  std::size_t errors_thrown_ = 0;           // of those, how many a run has thrown or told of
  AttachedErrors attached_errors_;          // to those that groups threw
  // Handles of ended threads that hold an error nobody has taken. Their order decides nothing.
  std::unordered_set<ResultSlot*> kept_errors_;
  std::vector<ExecutorGuest*> guests_;
  std::size_t guests_asking_ = 0;         // for room
  CancelScope* noted_members_ = nullptr;  // GroupScope::note_ranks
  bool ranking_ = false;
};

/// Submits to the current executor. See Executor::submit.
template <class T>
Handle<T> submit(Task<T> task, const SubmitOptions& options = {});
template <class F, class... Args>
auto submit(const SubmitOptions& options, F function, Args... arguments);

/// The current executor's clock.
Instant now();

}  // namespace bide

#include <bide/executor/handle.hpp>
#include <bide/executor/sleep.hpp>
#include <bide/executor/yield.hpp>
