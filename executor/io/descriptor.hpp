#pragma once

#include <cerrno>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <utility>

#include <bide/executor/driver.hpp>
#include <bide/executor/operation.hpp>

namespace bide {

class CloseDescriptor;
class DescriptorWait;
class RepeatingOperation;

/// A file descriptor, and the operations in flight on it: what sockets, files and pipes are made of.
///
/// A close while the kernel works on the descriptor would let that go on behind our back, in whatever gets its number
/// next. So `close` first cancels what is in flight, and awaits the last completion of each. Awaits of others end with
/// std::errc::operation_canceled, before the close does; what succeeded all the same is delivered.
///
/// Destroyed: closed at once, by a plain call. An operation that repeats (accept, receive) is cancelled and takes the
///            descriptor along, which is closed with its last completion; `run` does not end before that.
/// Moved:     also while one that repeats is in flight.
/// Requires:  destroyed, moved and assigned to only while no thread awaits an operation on it, or its close; used on
///            one executor at a time. It may outlive the executor.
class Descriptor {
 public:
  enum class Owned : std::uint8_t { yes, no };  // no: it is never closed by us

  Descriptor() = default;
  explicit Descriptor(int number, Owned owned = Owned::yes) noexcept : number_(number), owned_(owned) {}
  Descriptor(Descriptor&& other) noexcept { take_from(other); }
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this == &other) return *this;
    close_now();
    take_from(other);
    return *this;
  }
  ~Descriptor() { close_now(); }

  /// -1 when it is closed.
  int number() const { return number_; }
  /// False once its close has begun.
  bool open() const { return number_ >= 0 && !closing_; }

  /// Closes it by a plain call, as the destructor does. Requires: no thread awaits an operation on it.
  void close_now() noexcept;

  /// Gives the number to the caller, who closes it. Requires: nothing is in flight.
  [[nodiscard]] int release() noexcept;

  /// The driver of the running executor, which from now on is this descriptor's. Throws: std::system_error: none can
  /// be had.
  Driver& driver(Executor& executor);
  /// That driver, and whether it still lives; empty before the first operation.
  const Driver::Life& life() const { return life_; }

  RepeatingOperation* repeating() const { return repeating_; }
  /// Owns it from now on. Requires: it has none.
  void repeat(RepeatingOperation& operation) noexcept;

 private:
  friend class CloseDescriptor;
  friend class DescriptorWait;
  friend class RepeatingOperation;

  bool in_use() const;
  void end_all() noexcept;
  void operation_ended() noexcept;
  void close_when_idle() noexcept;
  void take_from(Descriptor& other) noexcept;

  int number_ = -1;
  Owned owned_ = Owned::yes;
  bool closing_ = false;
  DescriptorWait* waits_ = nullptr;  // the threads whose operations are in flight, latest first
  CloseDescriptor* closer_ = nullptr;
  RepeatingOperation* repeating_ = nullptr;
  Driver::Life life_;
};

/// How reports and errors call the object of an operation. Printed only then; the object stays where it is until the
/// await is over.
struct ObjectName {
  std::string (*print)(const void* object);
  const void* object;
  std::string text() const { return print(object); }
};

/// The await of an operation on a Descriptor: the base of the awaiters of sockets, files and pipes.
///
/// A derived awaiter: `await_ready` is true if `enter_on()` is, or where there is nothing to do (`result` says what);
/// `await_suspend` fills in the operation and calls `begin_on`; `await_resume` calls `end_or_throw`.
///
/// An interrupted operation is started again, and one on a descriptor that others have made non-blocking when that is
/// ready.
class DescriptorWait : public OperationWait {
 public:
  /// Call and object, for reports and errors: "read from 127.0.0.1:51234".
  std::string describe() const final { return std::string(verb_) + " " + name_.text(); }

 protected:
  /// The most that one read or write transfers.
  static constexpr std::size_t largest_bytes = std::size_t{1} << 30U;

  DescriptorWait(Kind what, const char* verb, Descriptor& on, ObjectName name, std::source_location where)
      : OperationWait(what, where), on_(&on), verb_(verb), name_(name) {}
  ~DescriptorWait() = default;

  /// True: nothing is to be started. The thread is cancelled, or the descriptor closed: std::errc::bad_file_descriptor.
  bool enter_on() {
    if (enter()) return true;
    if (on_->open()) return false;
    result = -EBADF;
    return true;
  }

  /// Starts it, on the driver, or Kind::call on the pool.
  void begin_on(Frame& frame);

  /// Returns: the result, not negative. Throws: Cancelled; std::system_error.
  std::int64_t end_or_throw() const;

  void use(std::span<const std::byte> bytes) {
    memory = const_cast<std::byte*>(bytes.data());  // NOLINT: a write leaves it alone
    length = static_cast<std::uint32_t>(bytes.size() < largest_bytes ? bytes.size() : largest_bytes);
  }

  /// Looks at a result that is no error. True: the operation, changed by now, is started once more.
  virtual bool goes_on() noexcept { return false; }

  void completed() noexcept override;
  Descriptor& on() const { return *on_; }

 private:
  friend class Descriptor;

  bool again() noexcept;
  void wait_until_ready() noexcept;

  Descriptor* on_;
  DescriptorWait* next_ = nullptr;
  DescriptorWait* previous_ = nullptr;
  const char* verb_;
  ObjectName name_;
  std::uint32_t flags_kept_ = 0;
  Kind kind_kept_ = Kind::poll;
  bool polls_ = false;  // until it is ready; then as kept
  bool starting_ = false;
  bool completed_in_start_ = false;
};

/// An operation that repeats on a Descriptor. In memory of its own, since its last completion may come when the
/// descriptor's owner is gone: from then on results are dropped, and the last one deletes it.
class RepeatingOperation : protected Operation {
 public:
  virtual ~RepeatingOperation();
  bool under_way() const { return in_flight; }

 protected:
  RepeatingOperation(Kind what, Descriptor& on) : Operation(what), on_(&on) { repeats = true; }

  /// Starts it. Requires: not running. It may complete within the call.
  void arm(Executor& executor);
  /// Asks for its end: `arrived` tells of that. Twice is once.
  void stop() noexcept;

  /// A result came; `more` and `under_way()` say whether others may follow. May arm it again.
  virtual void arrived() noexcept = 0;
  /// A result came that nobody wants: closes it, or gives it back.
  virtual void drop() noexcept = 0;
  /// The descriptor is about to be closed: who waits for a result has to be told, by now or by the last one.
  virtual void closing() noexcept { stop(); }
  /// A thread waits for a result.
  virtual bool awaited() const noexcept = 0;

  /// Requires: not given up. Else `kept` is what it is on.
  Descriptor& on() const { return *on_; }
  const Descriptor& kept() const { return kept_; }
  /// Begun while somebody waits for a result.
  OutsideWork work_;

 private:
  friend class Descriptor;

  void completed() noexcept final;
  void give_up(Descriptor& owner) noexcept;

  Descriptor* on_;  // nullptr: given up
  Executor* executor_ = nullptr;
  Driver* driver_ = nullptr;
  Descriptor kept_;  // given up: the descriptor, until the last completion
};

/// `co_await socket.close()`, `co_await file.close()`.
///
/// Suspends: always, unless it is closed already. Cancels what is in flight on the descriptor, awaits the last
///           completions, then closes. Not ended by a cancel: that shows at the thread's next wait.
/// Throws:   std::system_error: what the kernel says, as after writes that failed late; the descriptor is gone all the
///           same. Cancelled, if the thread is when it gets here; the descriptor is closed all the same.
class [[nodiscard]] CloseDescriptor final : public OperationWait {
 public:
  CloseDescriptor(Descriptor& closed, ObjectName name, std::source_location where)
      : OperationWait(Kind::close, where), closed_(closed), name_(name) {}

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    close(frame.promise());
  }
  void await_resume() const;

  bool ask_to_end() noexcept override { return true; }
  std::string describe() const override { return "close " + name_.text(); }

 private:
  friend class Descriptor;

  void close(Frame& frame);
  void go_on() noexcept;
  void completed() noexcept override;

  OutsideWork ends_;  // of what was in flight
  Descriptor& closed_;
  ObjectName name_;
  Frame* frame_ = nullptr;
  Driver* driver_ = nullptr;
};

}  // namespace bide
