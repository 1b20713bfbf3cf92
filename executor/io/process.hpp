#pragma once

#include <sys/types.h>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <bide/executor/io/descriptor.hpp>
#include <bide/executor/io/pipe.hpp>

namespace bide {

/// How a process ended.
struct ExitStatus {
  enum class How : std::uint8_t { exited, killed };
  How how = How::exited;
  int number = 0;  // what it returned, or the signal that killed it

  /// It returned 0.
  bool success() const { return how == How::exited && number == 0; }
  /// "exited with 1", "killed by signal 9".
  std::string to_string() const;
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

/// Trivially destructible, as all options.
struct ChildOptions {
  enum class Stream : std::uint8_t {
    inherit,
    null,  // reads nothing; what is written is gone
    pipe,  // ChildProcess::input, output, error
  };
  Stream input = Stream::inherit;
  Stream output = Stream::inherit;
  Stream error = Stream::inherit;
  /// "NAME=value" each; must stay until `spawn` returns. nullptr: ours.
  const std::vector<std::string>* environment = nullptr;
  /// Where it starts; a relative path of the program counts from there. nullptr: here.
  const char* directory = nullptr;
  /// What a cancel of a thread that awaits the end does: `kill` kills the child, and the await then ends with that.
  enum class OnCancel : std::uint8_t { leave, kill } on_cancel = OnCancel::leave;
  /// `own`: it leads a process group of its own, with all that it starts. Every kill, also by a cancel or by the
  /// destructor, reaches the whole group; and what the group still runs when the child has ended is killed. A terminal's
  /// Ctrl-C does not reach it.
  enum class Group : std::uint8_t { inherit, own } group = Group::inherit;
};

/// A child process. It gets no descriptors but its three streams, and no signal blocked.
///
///     ChildProcess child = ChildProcess::spawn("sort", {"-n"}, {.input = ChildOptions::Stream::pipe});
///     co_await child.input().write_all(bytes);
///     co_await child.input().close();
///     const ExitStatus status = co_await child.wait();
///
/// Destroyed: a child that has not been waited for is killed, and its end awaited by blocking: nothing outlives its
///            owner. `detach` leaves it alone.
/// Errors:    std::system_error; std::errc::no_child_process where SIGCHLD is ignored, for no status would be kept.
/// Requires:  nobody else waits for all children.
class ChildProcess {
 public:
  class End;

  /// Starts the program; without a slash it is looked for in PATH. A plain call, which returns when the child runs the
  /// program: one that can't be run is an error here, "spawn /x/y: No such file or directory".
  [[nodiscard]] static ChildProcess spawn(std::string_view program,
                                          const std::vector<std::string>& arguments = {},
                                          const ChildOptions& options = {});

  ChildProcess() = default;
  ChildProcess(ChildProcess&& other) noexcept { take_from(other); }
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess() { end_now(); }

  /// `co_await child.wait()`: an ExitStatus; the same again once it has ended.
  ///
  /// Suspends: until it has ended. Cancellation point; see ChildOptions::on_cancel.
  [[nodiscard]] End wait(std::source_location where = std::source_location::current());

  /// A plain call. One that has been waited for is not reached: no other process can be meant. Throws: std::system_error.
  void kill(int signal);

  /// From now on it is nobody's; who it is can be told by `id`.
  void detach() noexcept;

  pid_t id() const { return id_; }
  PipeWriter& input() { return input_; }
  PipeReader& output() { return output_; }
  PipeReader& error() { return error_; }

 private:
  void take_from(ChildProcess& other) noexcept;
  void end_now() noexcept;
  ExitStatus reap();
  int send_signal(int signal) noexcept;

  Descriptor descriptor_;  // a pidfd
  pid_t id_ = -1;
  ChildOptions::OnCancel on_cancel_ = ChildOptions::OnCancel::leave;
  ChildOptions::Group group_ = ChildOptions::Group::inherit;
  enum class State : std::uint8_t { none, runs, ended } state_ = State::none;
  ExitStatus status_;
  std::string program_;
  PipeWriter input_;
  PipeReader output_;
  PipeReader error_;
};

/// The wait for the end of a child.
class [[nodiscard]] ChildProcess::End final : public DescriptorWait {
 public:
  End(ChildProcess& child, std::source_location where);

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin_on(frame.promise());
  }
  ExitStatus await_resume() const;
  bool ask_to_end() noexcept override;

 private:
  ChildProcess& child_;
};

inline ChildProcess::End ChildProcess::wait(std::source_location where) { return End(*this, where); }

}  // namespace bide
