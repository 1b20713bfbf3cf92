#include <bide/executor/io/process.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>

#include <bide/executor/io/io_error.hpp>

namespace bide {

namespace {

constexpr idtype_t by_pidfd = static_cast<idtype_t>(3);  // P_PIDFD, which not every libc names

ExitStatus status_of(const siginfo_t& info) {
  const bool exited = info.si_code == CLD_EXITED;
  return {exited ? ExitStatus::How::exited : ExitStatus::How::killed, info.si_status};
}

/// The actions and attributes of a spawn: what the child does before it runs the program.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void start_in(const char* directory) {
    check(::posix_spawn_file_actions_addchdir_np(&actions_, directory));
  }
  void open_null(int number, int flags) {
    check(::posix_spawn_file_actions_addopen(&actions_, number, "/dev/null", flags, 0));
  }
  void put(int descriptor, int number) {
    check(::posix_spawn_file_actions_adddup2(&actions_, descriptor, number));
  }
  void close_all_others() { check(::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1)); }
  void unblock_signals() {
    sigset_t none;
    ::sigemptyset(&none);
    check(::posix_spawnattr_setsigmask(&attributes_, &none));
    add_flag(POSIX_SPAWN_SETSIGMASK);
  }
  void lead_group() {
    check(::posix_spawnattr_setpgroup(&attributes_, 0));
    add_flag(POSIX_SPAWN_SETPGROUP);
  }

  /// Returns: 0, or an errno.
  int spawn(pid_t& id, const std::string& program, char* const* arguments, char* const* environment) const {
    return ::posix_spawnp(&id, program.c_str(), &actions_, &attributes_, arguments, environment);
  }

 private:
  static void check(int error) {
    if (error != 0) throw_io_error(error, "prepare a child process");
  }

  void add_flag(short flag) {
    flags_ = static_cast<short>(flags_ | flag);
    check(::posix_spawnattr_setflags(&attributes_, flags_));
  }

  short flags_ = 0;
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// A pipe to or from the child: which end is whose.
struct ChildPipe {
  Descriptor ours;
  Descriptor childs;
};

// Above the standard streams, which may be closed here: in the child it is put in the place of one.
Descriptor above_standard_streams(int number) {
  Descriptor given(number);
  if (number > STDERR_FILENO) return given;
  const int moved = ::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0) throw_io_error(errno, "make a pipe");
  return Descriptor(moved);
}

enum class Writes : std::uint8_t { us, child };

// Puts the stream in its place in the child. Returns: our end, if it is a pipe.
ChildPipe plan_stream(SpawnPlan& plan, int number, ChildOptions::Stream stream, Writes writes) {
  if (stream == ChildOptions::Stream::inherit) return {};
  if (stream == ChildOptions::Stream::null) {
    plan.open_null(number, writes == Writes::us ? O_RDONLY : O_WRONLY);
    return {};
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_io_error(errno, "make a pipe");
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  reader = above_standard_streams(reader.release());
  writer = above_standard_streams(writer.release());
  Descriptor& childs = writes == Writes::us ? reader : writer;
  Descriptor& ours = writes == Writes::us ? writer : reader;
  plan.put(childs.number(), number);
  return {std::move(ours), std::move(childs)};
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void refuse_nul(const std::vector<std::string>& texts, const std::string& what) {
  for (const std::string& text : texts) {
    if (text.find('\0') != text.npos) throw_io_error(EINVAL, what + ": \"" + escaped(text) + "\"");
  }
}

// The kernel would then keep no status, and give the id to others at once.
void refuse_lost_ends(const std::string& what) {
  struct sigaction chosen {};
  ::sigaction(SIGCHLD, nullptr, &chosen);
  if (chosen.sa_handler == SIG_IGN || (chosen.sa_flags & SA_NOCLDWAIT) != 0)
    throw_io_error(ECHILD, what + ": SIGCHLD is ignored, so how it ends would be lost");
}

}  // namespace

std::string ExitStatus::to_string() const {
  return (how == How::exited ? "exited with " : "killed by signal ") + std::to_string(number);
}

ChildProcess ChildProcess::spawn(std::string_view program, const std::vector<std::string>& arguments,
                                 const ChildOptions& options) {
  std::vector<std::string> words{std::string(program)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  if (options.environment != nullptr) variables = *options.environment;
  const std::string what = "spawn " + escaped(program);
  refuse_nul(words, what);
  refuse_nul(variables, what);
  refuse_lost_ends(what);

  SpawnPlan plan;
  plan.unblock_signals();
  if (options.group == ChildOptions::Group::own) plan.lead_group();
  if (options.directory != nullptr) plan.start_in(options.directory);
  ChildPipe input = plan_stream(plan, STDIN_FILENO, options.input, Writes::us);
  ChildPipe output = plan_stream(plan, STDOUT_FILENO, options.output, Writes::child);
  ChildPipe error = plan_stream(plan, STDERR_FILENO, options.error, Writes::child);
  plan.close_all_others();

  ChildProcess child;
  const std::vector<char*> argument_list = pointers_to(words);
  const std::vector<char*> variable_list = pointers_to(variables);
  const int failed = plan.spawn(child.id_, words.front(), argument_list.data(),
                                options.environment != nullptr ? variable_list.data() : ::environ);
  if (failed != 0) {
    const std::string in = options.directory != nullptr ? " in " + escaped(options.directory) : "";
    throw_io_error(failed, what + in);
  }
  child.program_ = program;
  child.on_cancel_ = options.on_cancel;
  child.group_ = options.group;
  child.state_ = State::runs;
  child.input_ = PipeWriter(std::move(input.ours), "a child's standard input");
  child.output_ = PipeReader(std::move(output.ours), "a child's standard output");
  child.error_ = PipeReader(std::move(error.ours), "a child's standard error");
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, child.id_, 0));
  if (pidfd < 0) throw_io_error(errno, what);  // and the child goes
  child.descriptor_ = Descriptor(pidfd);
  return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  end_now();
  take_from(other);
  return *this;
}

void ChildProcess::take_from(ChildProcess& other) noexcept {
  descriptor_ = std::move(other.descriptor_);
  id_ = std::exchange(other.id_, -1);
  on_cancel_ = other.on_cancel_;
  group_ = other.group_;
  state_ = std::exchange(other.state_, State::none);
  status_ = other.status_;
  program_ = std::move(other.program_);
  input_ = std::move(other.input_);
  output_ = std::move(other.output_);
  error_ = std::move(other.error_);
}

// Until it is waited for, its id can't be another process's or group's, unless others wait for all children.
int ChildProcess::send_signal(int signal) noexcept {
  if (group_ == ChildOptions::Group::own && ::kill(-id_, signal) == 0)
    return 0;  // else it has left that group
  if (descriptor_.number() < 0) return ::kill(id_, signal);
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, descriptor_.number(), signal, nullptr, 0));
}

void ChildProcess::end_now() noexcept {
  if (std::exchange(state_, State::none) != State::runs) return;
  send_signal(SIGKILL);
  siginfo_t info;
  while (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED) != 0 && errno == EINTR) {
  }
}

void ChildProcess::detach() noexcept {
  state_ = State::none;
  descriptor_.close_now();
}

void ChildProcess::kill(int signal) {
  if (state_ != State::runs) return;
  if (send_signal(signal) != 0 && errno != ESRCH) throw_io_error(errno, "kill " + escaped(program_));
}

ExitStatus ChildProcess::reap() {
  if (state_ == State::ended) return status_;
  if (group_ == ChildOptions::Group::own) send_signal(SIGKILL);  // to those that it has left
  siginfo_t info{};
  int failed = 0;
  while ((failed = ::waitid(by_pidfd, static_cast<id_t>(descriptor_.number()), &info, WEXITED)) != 0 &&
         errno == EINTR) {
  }
  if (failed != 0) throw_io_error(errno, "wait for " + escaped(program_));
  state_ = State::ended;
  status_ = status_of(info);
  return status_;
}

ChildProcess::End::End(ChildProcess& child, std::source_location where)
    : DescriptorWait(
          Kind::poll, "the end of", child.descriptor_,
          {[](const void* of) { return escaped(static_cast<const ChildProcess*>(of)->program_); }, &child},
          where),
      child_(child) {
  flags = POLLIN;
}

bool ChildProcess::End::await_ready() { return enter_on() || child_.state_ == State::ended; }

ExitStatus ChildProcess::End::await_resume() const {
  static_cast<void>(end_or_throw());
  return child_.reap();
}

bool ChildProcess::End::ask_to_end() noexcept {
  if (child_.on_cancel_ == ChildOptions::OnCancel::leave || thread()->cancelled == 0)
    return DescriptorWait::ask_to_end();
  child_.send_signal(SIGKILL);  // which ends this wait
  return true;
}

}  // namespace bide
