#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <bide/queue/require.hpp>

namespace bide {

class Executor;
struct GreenThread;
class JoinWait;
struct Frame;
template <class T = void>
class Handle;
template <class T = void>
class Task;

/// Where the outcome of a task goes and who is told: a part of the await of a child, or of a Handle.
///
/// The producer writes the value straight into the receiver's memory, so a finished frame keeps nothing and a
/// finished thread can be destroyed at once, whoever holds its Handle.
class ResultSlot {
 public:
  enum class State : std::uint8_t { pending, value, failed, taken };

  ResultSlot() = default;
  ResultSlot(const ResultSlot&) = delete;
  ResultSlot& operator=(const ResultSlot&) = delete;

  void fail(std::exception_ptr error) noexcept {
    error_ = std::move(error);
    state_ = State::failed;
  }
  State state() const { return state_; }
  const std::exception_ptr& error() const { return error_; }

  // For a Handle with an error (errors.cpp).
  void tell() noexcept { told_ = true; }            // a group knows of it: it is not lost with this
  void release_error() noexcept;                    // somebody takes it
  void drop_error() noexcept;                       // nobody will: it counts as a detached thread's
  void moved_error_from(ResultSlot& old) noexcept;  // it is kept here now
  void forget_joiner() noexcept;                    // the Handle goes while a thread waits for it

  union {
    Frame* child = nullptr;  // the await of a child: its frame, owned
    GreenThread* thread;     // a Handle: its thread, while that lives
    Executor* keeper;  // a Handle that holds an error nobody has taken: who wants it when the Handle goes
  };
  union {
    Frame* awaiting = nullptr;  // the await of a child: the frame to go on with
    JoinWait* joiner;           // a Handle: the thread that waits for it, if any
  };

 protected:
  ~ResultSlot() = default;

  /// Before a take: the task has ended, and nobody has taken its result. Throws its error.
  void open() {
    if (state_ != State::value) [[unlikely]]
      throw_error();
  }
  void take_over_state(ResultSlot& other) {
    error_ = std::move(other.error_);
    state_ = std::exchange(other.state_, State::pending);
    told_ = other.told_;
  }

  void throw_error();

  std::exception_ptr error_;
  State state_ = State::pending;
  bool told_ = false;
};

/// A ResultSlot with room for a T (void, a value, or a reference).
template <class T>
class ResultSlotFor : public ResultSlot {
 public:
  ResultSlotFor() {}
  ~ResultSlotFor() {
    if (state_ == State::value) std::destroy_at(std::addressof(value_));
  }

  template <class U>
  void emplace(U&& value) {
    std::construct_at(std::addressof(value_), std::forward<U>(value));
    state_ = State::value;
  }

  /// After `emplace`, where a destructor at the end of the task's body throws: the error is the result.
  void discard() noexcept {
    if (state_ != State::value) return;
    std::destroy_at(std::addressof(value_));
    state_ = State::pending;
  }

  /// The value, moved out, or the exception, thrown: the same object that the task threw.
  T take() {
    open();
    T value(std::move(value_));
    std::destroy_at(std::addressof(value_));
    state_ = State::taken;
    return value;
  }

 protected:
  void take_over(ResultSlotFor& other) {
    if (other.state_ == State::value) {
      std::construct_at(std::addressof(value_), std::move(other.value_));
      std::destroy_at(std::addressof(other.value_));
    }
    take_over_state(other);
  }

 private:
  union {
    T value_;
  };
};

template <class T>
class ResultSlotFor<T&> : public ResultSlot {
 public:
  void emplace(T& value) {
    value_ = std::addressof(value);
    state_ = State::value;
  }
  void discard() noexcept {}
  T& take() {
    open();
    state_ = State::taken;
    return *value_;
  }

 protected:
  void take_over(ResultSlotFor& other) {
    value_ = other.value_;
    take_over_state(other);
  }

 private:
  T* value_ = nullptr;
};

template <>
class ResultSlotFor<void> : public ResultSlot {
 public:
  void emplace() { state_ = State::value; }
  void take() {
    open();
    state_ = State::taken;
  }

 protected:
  void take_over(ResultSlotFor& other) { take_over_state(other); }
};

/// What every task's promise starts with: the coroutine as the loop sees it.
struct Frame {
  static constexpr std::size_t thread_record_bytes = 88;

  Frame() = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  std::coroutine_handle<Frame> handle() { return std::coroutine_handle<Frame>::from_promise(*this); }

  /// A root task's GreenThread is made here by submit. Left uninitialised in all others, which pay nothing.
  alignas(8) std::byte thread_record[thread_record_bytes];
  /// Where the result goes. nullptr: a detached root.
  ResultSlot* result = nullptr;
  /// The line of the await of this task, or of the submit of a root.
  std::source_location where{};
};

}  // namespace bide
