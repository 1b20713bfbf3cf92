#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include <bide/executor/frame.hpp>
#include <bide/executor/frame_pool.hpp>
#include <bide/executor/green_thread.hpp>

namespace bide {

template <class T>
class TaskAwait;
template <class T>
class Join;

/// Destroys the frame of a task that never ran. Tasks among its arguments follow in a loop, outermost first: as
/// nested destructors, a long chain of them would overflow the stack.
void drop_not_started(Frame& frame) noexcept;

/// Awaits an awaiter where it is: g++ 12 copies one that await_transform returns by reference, and a wait that
/// others hold a pointer to must not move.
template <class Awaiter>
class AwaitInPlace {
 public:
  explicit AwaitInPlace(Awaiter& awaiter) : awaiter_(awaiter) {}

  bool await_ready() { return awaiter_.await_ready(); }
  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> frame) {
    return awaiter_.await_suspend(frame);
  }
  decltype(auto) await_resume() { return awaiter_.await_resume(); }

 private:
  Awaiter& awaiter_;
};

/// What a Task<T>'s coroutine does where the language asks: memory, start, end, errors, and awaits.
class TaskPromiseBase : public Frame {
 public:
  // GreenThread::root and Frame::handle convert between the two, so nothing may come before the Frame.
  static void* operator new(std::size_t bytes) { return frame_pool.allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { frame_pool.release(memory, bytes); }

  std::suspend_always initial_suspend() noexcept { return {}; }

  /// Tells the loop where to go on: with the frame that awaits this one, or nowhere when this was the root.
  struct End {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      Frame& frame = handle.promise();
      GreenThread& thread = *running.thread;
      if (static_cast<void*>(&thread) == frame.thread_record) {
        thread.state = Runnable::State::ended;
      } else {
        thread.leaf = frame.result->awaiting;
      }
    }
    void await_resume() noexcept {}
  };
  End final_suspend() noexcept { return {}; }

  void unhandled_exception() noexcept {
    if (result != nullptr) {
      result->fail(std::current_exception());
    } else {
      detached_failed();
    }
  }

  // Static: what awaits on behalf of a task (a timeout) asks here for the awaiter of its awaitable.
  template <class T>
  static TaskAwait<T> await_transform(Task<T>&& task,
                                      std::source_location line = std::source_location::current()) {
    return TaskAwait<T>(std::move(task), line);
  }
  /// A task runs once: await it where it is made, or `co_await std::move(task)`.
  template <class T>
  static void await_transform(Task<T>& task) = delete;

  template <class T>
  static Join<T> await_transform(Handle<T>& handle,
                                 std::source_location line = std::source_location::current()) {
    return Join<T>(handle, line);
  }
  template <class T>
  static Join<T> await_transform(Handle<T>&& handle,
                                 std::source_location line = std::source_location::current()) {
    return Join<T>(handle, line);
  }

  template <class Awaitable>
  static decltype(auto) await_transform(Awaitable&& awaitable) {
    if constexpr (requires { static_cast<Awaitable&&>(awaitable).operator co_await(); }) {
      return static_cast<Awaitable&&>(awaitable).operator co_await();
    } else if constexpr (requires { operator co_await(static_cast<Awaitable&&>(awaitable)); }) {
      return operator co_await(static_cast<Awaitable&&>(awaitable));
    } else {
      return AwaitInPlace<std::remove_reference_t<Awaitable>>(awaitable);
    }
  }

 private:
  void detached_failed() noexcept;
};

template <class T>
class TaskPromise final : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;

  template <std::convertible_to<T> U = T>
  void return_value(U&& value) {
    if (result != nullptr) static_cast<ResultSlotFor<T>*>(result)->emplace(std::forward<U>(value));
  }
  void unhandled_exception() noexcept {
    if (result != nullptr) static_cast<ResultSlotFor<T>*>(result)->discard();
    TaskPromiseBase::unhandled_exception();
  }
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() noexcept {
    if (result != nullptr) static_cast<ResultSlotFor<void>*>(result)->emplace();
  }
};

/// A piece of asynchronous work: calling a coroutine that returns Task<T> makes one, and nothing of its body
/// runs until it is awaited by another task or given to `submit`.
///
///     Task<int> answer() { co_await Sleep(5ms); co_return 42; }
///     int value = co_await answer();
///
/// T:         void, any movable type, or a reference.
/// Await:     once, as an rvalue; the child runs in the awaiting thread, with its priority and cancellation.
///            Awaiting suspends nothing by itself and is no cancellation point: the child's own waits are.
/// Throws:    what the body throws, the same object, out of the co_await.
/// Owns:      the coroutine's frame; a task that is dropped before it ran destroys its arguments.
/// Cost:      one block of the frame pool; no stack, however deep or often tasks await one another.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromise<T>;

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_ != nullptr) [[unlikely]]
      drop_not_started(*frame_);
  }

 private:
  friend TaskPromise<T>;
  friend TaskAwait<T>;
  friend Executor;

  explicit Task(TaskPromise<T>& promise) noexcept : frame_(&promise) {}

  Frame* release(std::source_location where) {
    require(frame_ != nullptr, "a task is awaited or submitted twice", where);
    return std::exchange(frame_, nullptr);
  }

  Frame* frame_;
};

template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(*this);
}
inline Task<void> TaskPromise<void>::get_return_object() noexcept { return Task<void>(*this); }

/// The await of a child task: owns the child's frame and receives its result.
template <class T>
class TaskAwait final : public ResultSlotFor<T> {
 public:
  TaskAwait(Task<T>&& task, std::source_location where) {
    this->child = task.release(where);
    this->child->result = this;
    this->child->where = where;
  }
  ~TaskAwait() {
    if (this->child != nullptr) this->child->handle().destroy();
  }

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    this->awaiting = &parent.promise();
    running.thread->leaf = this->child;  // and stay running: the loop goes on with the child
  }
  T await_resume() { return this->take(); }
};

/// The task of `submit(options, function, arguments...)`: its frame owns them all while `function` runs.
template <class F, class... Args>
std::invoke_result_t<F&, Args...> call_in_thread(std::source_location where, F function, Args... arguments) {
  TaskAwait body(function(std::move(arguments)...), where);
  co_return co_await body;
}

}  // namespace bide
