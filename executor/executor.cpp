#include <bide/executor/executor.hpp>

#include <algorithm>
#include <new>

#include <bide/executor/blocking_pool.hpp>
#include <bide/executor/cancel_scope.hpp>
#include <bide/executor/executor_guest.hpp>
#include <bide/executor/obligation.hpp>

namespace bide {

// Makes an executor the current one of this OS thread; what was current before comes back.
class Executor::Entered {
 public:
  explicit Entered(Executor& executor)
      : executor_(executor),
        executor_before_(running.executor),
        thread_before_(running.thread),
        now_before_(running.now) {
    require(!executor.in_run_, "an executor is run from within its own run");
    executor.in_run_ = true;
    running.executor = &executor;
    running.thread = nullptr;
    running.now = &executor.now_;
    if (!executor.virtual_time_) executor.now_ = executor.now();
  }
  ~Entered() {
    running.executor = executor_before_;
    running.thread = thread_before_;
    running.now = now_before_;
    executor_.in_run_ = false;
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  Executor& executor_;
  Executor* executor_before_;
  GreenThread* thread_before_;
  const Instant* now_before_;
};

Executor::Executor(ExecutorOptions options)
    : options_(options),
      ready_({.promote_every = options.promote_every, .aging = Aging::off}),
      virtual_time_(options.time == TimeMode::virtual_time),
      tracing_(options.observer != nullptr || options.digest == ExecutorOptions::Digest::on),
      stall_watch_(options.observer != nullptr && options.stall_threshold > Duration::zero()),
      watched_(tracing_ || stall_watch_ || options.chooser != nullptr),
      post_box_(std::make_shared<PostBox>()) {
  require(options.resumes_per_turn > 0, "ExecutorOptions::resumes_per_turn is 0");
  require(options.clock == nullptr || !virtual_time_, "ExecutorOptions::clock is for real time");
  require(options.io.buffer_count > 0 && options.io.buffer_count <= 32'768 && options.io.buffer_bytes > 0,
          "DriverOptions: 1 to 32768 buffers, each of a byte or more");
  if (virtual_time_) return;
  now_ = now();
  lateness_ = std::make_unique<Lateness>();
}

Executor::~Executor() {
  const Entered entered(*this);
  enter_phase(Phase::destroying);
  post_box_->close();
  for (ExecutorGuest* guest : std::exchange(guests_, {})) {
    guest->host_ = nullptr;
    guest->executor_goes();
  }
  while (QueueNode* node = ready_.pop_any()) {
    auto& next = static_cast<Runnable&>(*node);
    if (next.state == Runnable::State::posted) next.call(next, Runnable::Disposal::drop);
  }
  for (Runnable* call : std::exchange(posts_, {})) call->call(*call, Runnable::Disposal::drop);
  drain_operations();
  // First no wait is left anywhere, so that destructors of one thread can't wake another; then the frames go.
  threads_.sort_by_id();
  for (GreenThread* const thread : threads_) {
    if (thread->state == Runnable::State::sleeping) timers_.cancel(*thread);
    if (thread->state == Runnable::State::waiting && !thread->wait().gone()) thread->wait().withdraw();
    thread->state = Runnable::State::ended;
  }
  while (ready_.pop_any() != nullptr) {  // a wait that went may have let another through
  }
  while (!threads_.empty()) {
    GreenThread& thread = **(threads_.end() - 1);
    if (ResultSlot* result = thread.root().result; result != nullptr) {
      result->thread = nullptr;
      result->fail(std::make_exception_ptr(Cancelled()));
      // A thread of another executor: the joins of this one's have been withdrawn.
      if (result->joiner != nullptr) result->joiner->woken();
    }
    destroy(thread);
  }
  driver_.reset();
  blocking_pool_.reset();
  for (ResultSlot* slot : kept_errors_) slot->keeper = nullptr;
  print_errors_not_thrown();
}

RunReport Executor::run() {
  const Entered entered(*this);
  begin_run();
  drive(Instant::max());
  end_run();
  if (!threads_.empty()) throw Deadlock(now(), describe_threads());
  return report();
}

RunReport Executor::run_until(Instant limit) {
  const Entered entered(*this);
  begin_run();
  drive(limit);
  if (virtual_time_ && now_ < limit) move_time(limit);
  if (threads_.empty()) end_run();
  return report();
}

RunReport Executor::run_for(Duration duration) { return run_until(add_saturating(now(), duration)); }

bool Executor::run_one() {
  const Entered entered(*this);
  begin_run();
  look_outside();
  check_progress();
  while (ready_.empty() && goes_on(Instant::max())) look_outside();
  const bool ran = run_ready(1) > 0;
  if (threads_.empty() || !ran) end_run();
  return ran;
}

// The errors that the last run threw stay in `report()` until now. After a stop there is room again.
void Executor::begin_run() {
  if (guests_asking_ != 0) tell_of_room();
  if (errors_thrown_ == 0) return;
  errors_.erase(errors_.begin(), errors_.begin() + static_cast<std::ptrdiff_t>(errors_thrown_));
  errors_thrown_ = 0;
}

void Executor::end_run() {
  if (threads_.empty() && phase_ != Phase::open) enter_phase(Phase::open);
  throw_errors();
}

void Executor::stop() {
  if (threads_.empty() && !in_run_) return;
  cancel_all();
}

Instant Executor::read_clock() const {
  RealClock real_clock;
  const Instant read = (options_.clock != nullptr ? options_.clock : &real_clock)->now();
  return latest_ = std::max(latest_, read);  // a clock that goes back does not take us along
}

Instant now() { return Executor::current().now(); }

Instant ExecutorClock::now() { return bide::now(); }

void Executor::refuse() const {
  if (phase_ != Phase::open) throw QueueFull("submit refused: the executor is stopping");
  std::string text = "submit refused: " + std::to_string(options_.capacity);
  text += options_.capacity == 1 ? " thread is" : " threads are";
  throw QueueFull(text + " alive, which is the executor's capacity");
}

inline Priority Executor::inherited_priority() const {
  if (running.executor != this || running.thread == nullptr) return Priority::normal;
  return running.thread->own_priority;
}

// Straight on where there is room and nobody watches: first all questions, then nothing but stores.
GreenThread& Executor::admit_plain(Frame& root, std::source_location where) {
  const Priority own = inherited_priority();
  if (threads_.size() >= easy_count_ || !ready_.has_room(own, threads_.size() + 1)) [[unlikely]]
    return admit_with_care(root, {.where = where});
  auto& thread = *::new (root.thread_record) GreenThread(*this, root, ++last_id_, own, nullptr);
  root.where = where;
  threads_.add(thread);
  ready_.push_plain(thread);
  return thread;
}

GreenThread& Executor::admit_with_care(Frame& root, SubmitOptions options) {
  if (!admits()) refuse();
  const Priority own = options.priority ? *options.priority : inherited_priority();
  require(own <= Priority::critical, "a thread is submitted with a class that there is not", options.where);
  auto& thread = *::new (root.thread_record) GreenThread(*this, root, last_id_ + 1, own, options.name);
  root.where = options.where;
  if (options.deadline || options.deadline_in) thread.urgency = make_urgency(options);
  try {
    // Neither a wake-up nor a sleep fails: their places are paid for here. And what the arrays leave behind as they grow
    // becomes frames: growing under a million sleepers, they would leave holes that nothing fills.
    if (threads_.full()) threads_.grow();
    ready_.reserve(thread, threads_.size() + 1);
    timers_.reserve(threads_.capacity());
    ready_.push(thread);
  } catch (...) {
    if (thread.urgency != nullptr) frame_pool.release(thread.urgency, sizeof(Urgency));
    throw;
  }
  ++last_id_;
  threads_.add(thread);
  note_room();
  if (tracing_) trace(thread, ScheduleDigest::Event::submitted);
  return thread;
}

void Executor::enter_phase(Phase phase) {
  phase_ = phase;
  note_room();
}

// Who finds no room again asks again, and waits for the next end.
void Executor::tell_of_room() {
  for (ExecutorGuest* const guest : guests_) {
    if (guests_asking_ == 0 || !admits()) return;
    if (!guest->asks_) continue;
    guest->asks_ = false;
    --guests_asking_;
    try {
      guest->room_came();
    } catch (...) {
      detached_failed(std::current_exception());
    }
  }
}

void Executor::note_room() {
  easy_count_ = phase_ == Phase::open && !tracing_ ? std::min(threads_.capacity(), options_.capacity) : 0;
}

Urgency* Executor::make_urgency(const SubmitOptions& options) const {
  Instant deadline = options.deadline.value_or(Instant::max());
  if (options.deadline_in) deadline = std::min(deadline, add_saturating(now(), *options.deadline_in));
  const Duration estimate = options.duration_hint.value_or(urgency::default_estimate);
  return ::new (frame_pool.allocate(sizeof(Urgency)))
      Urgency{.latest_start = urgency::latest_start(deadline.time_since_epoch(), estimate),
              .horizon = urgency::horizon(estimate),
              .waiting_since = now_.time_since_epoch()};
}

bool Executor::drop_post(Runnable* call) {
  call->call(*call, Runnable::Disposal::drop);
  return false;
}

void Executor::cancel(GreenThread& thread) {
  if (thread.cancel_requested != 0 || thread.state == Runnable::State::ended) return;
  thread.cancel_requested = 1;
  CancelScope::reach(thread, nullptr);
}

bool Executor::cancel(std::uint64_t id) {
  for (GreenThread* thread : threads_) {
    if (thread->id != id) continue;
    cancel(*thread);
    return true;
  }
  return false;
}

// The cancel has come to the innermost scope: a wait that the thread is in fails.
void Executor::cancel_wait(GreenThread& thread) {
  if (thread.cancelled != 0 || thread.state == Runnable::State::ended) return;
  thread.cancelled = 1;
  if (tracing_) trace(thread, ScheduleDigest::Event::cancelled);
  if (thread.state == Runnable::State::sleeping) {
    thread.sleep().time_ = timers_.due(thread);  // it may be awaited again
    timers_.cancel(thread);
  } else if (thread.state == Runnable::State::waiting) {
    if (Wait& wait = thread.wait(); !wait.gone()) {
      if (wait.ask_to_end()) return;  // comes back by its wake
      wait.withdraw();
      wait.withdrawn();
    }
  } else {
    return;  // ready or running: what it waited for has happened, and its next wait throws
  }
  thread.wait_failed = 1;
  make_ready(thread);
}

void Executor::cancel_all() {
  if (phase_ == Phase::open) enter_phase(Phase::stopping);
  resumes_at_progress_ = resumes_;  // after a Livelock, too, the threads get turns to end in
  threads_.sort_by_id();
  for (GreenThread* const thread : threads_) cancel(*thread);
}

std::vector<GreenThread*> Executor::threads_by_id() const {
  std::vector<GreenThread*> threads(threads_.begin(), threads_.end());
  std::sort(threads.begin(), threads.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  return threads;
}

RunReport Executor::report() const {
  RunReport report{.resumes = resumes_,
                   .ticks = ticks_,
                   .now = now(),
                   .unfinished = describe_threads(),
                   .errors = errors_,
                   .digest = std::nullopt,
                   .lateness = {}};
  if (options_.digest == ExecutorOptions::Digest::on) report.digest = digest_;
  if (lateness_ != nullptr) {
    report.lateness = {.count = lateness_->count(),
                       .p50 = lateness_->at(500),
                       .p99 = lateness_->at(990),
                       .longest = lateness_->longest()};
  }
  return report;
}

std::vector<ThreadReport> Executor::describe_threads() const {
  std::vector<ThreadReport> reports;
  for (const GreenThread* thread : threads_by_id()) reports.push_back(describe(*thread));
  return reports;
}

// Those that have done something at this instant.
std::vector<ThreadReport> Executor::describe_busy_threads() const {
  std::vector<ThreadReport> reports;
  for (const GreenThread* thread : threads_by_id()) {
    const bool waits_since_now =
        thread->state == Runnable::State::waiting && !thread->wait().gone() && thread->wait().since() == now_;
    if (thread->state == Runnable::State::ready || waits_since_now) reports.push_back(describe(*thread));
  }
  return reports;
}

void Executor::tell_stall(const GreenThread& thread, Instant begun) const {
  const Duration taken = RealClock().now() - begun;
  if (taken <= options_.stall_threshold) return;
  std::source_location where = thread.submitted_at();
  if (thread.state == Runnable::State::ready) where = running.yielded_at;
  if (thread.suspended()) where = describe(thread).waits_at;
  options_.observer->stalled(thread, taken, where);
}

void Executor::trace(const GreenThread& thread, ScheduleDigest::Event event) {
  if (options_.digest == ExecutorOptions::Digest::on) {
    const std::uint64_t sequence = thread.suspended() ? 0 : thread.sequence;  // else it is an address
    digest_.add(now_, thread.priority, sequence, thread.id, event);
  }
  if (options_.observer == nullptr) return;
  switch (event) {
    case ScheduleDigest::Event::submitted:
      return options_.observer->submitted(thread);
    case ScheduleDigest::Event::resumed:
      return options_.observer->resumed(thread, now_);
    case ScheduleDigest::Event::woken:
      return options_.observer->woken(thread, now_);
    case ScheduleDigest::Event::ended:
      return options_.observer->ended(thread, now_);
    case ScheduleDigest::Event::cancelled:
      return options_.observer->cancelled(thread, now_);
    case ScheduleDigest::Event::time_moved:
      return;
  }
}

}  // namespace bide
