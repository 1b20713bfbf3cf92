#pragma once

#include <array>
#include <cerrno>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/uring_driver.hpp>
#include <bide/executor/operation.hpp>

namespace bide::test::uring {

using Kind = Operation::Kind;
using Results = std::vector<std::int64_t>;

/// What an operation is asked to do. Trivially destructible: it appears in co_await expressions.
struct Wanted {
  int descriptor = -1;
  void* memory = nullptr;
  std::size_t length = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = Operation::current_offset;
  std::uint64_t size = 0;
  std::uint32_t permissions = 0;
  void* more_memory = nullptr;
};

/// The await of one operation of the driver, with nothing around it. Returns the bare result.
class Request final : public OperationWait {
 public:
  explicit Request(Kind what, const Wanted& wanted,
                   std::source_location where = std::source_location::current())
      : OperationWait(what, where) {
    descriptor = wanted.descriptor;
    memory = wanted.memory;
    length = static_cast<std::uint32_t>(wanted.length);
    flags = wanted.flags;
    offset = wanted.offset;
    size = wanted.size;
    permissions = wanted.permissions;
    more_memory = wanted.more_memory;
  }
  std::string describe() const override { return "a request"; }
  bool await_ready() { return enter(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin(frame.promise(), *running.executor->driver());
  }
  std::int64_t await_resume() { return end(); }
};

/// A receive into a shared buffer: its bytes are copied out, and the buffer is given back. Empty at the end.
class Shared final : public OperationWait {
 public:
  explicit Shared(int from, std::source_location where = std::source_location::current())
      : OperationWait(Kind::receive, where) {
    descriptor = from;
    takes_buffer = true;
  }
  std::string describe() const override { return "a shared buffer"; }
  bool await_ready() { return enter(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin(frame.promise(), *running.executor->driver());
  }
  std::string await_resume() {
    const std::int64_t got = end();
    if (got <= 0) return {};
    Driver& driver = *running.executor->driver();
    std::string text(reinterpret_cast<const char*>(driver.buffer(buffer).data()),
                     static_cast<std::size_t>(got));
    driver.give_back(buffer);
    return text;
  }
};

/// An operation that goes on, and what it has told; nobody waits for it.
class Repeating : public Operation {
 public:
  explicit Repeating(Kind what, int on) : Operation(what) {
    descriptor = on;
    repeats = true;
  }
  void completed() noexcept override {
    results.push_back(result);
    if (!more) ended = true;
    if (!more) in_flight = false;
  }
  std::vector<std::int64_t> results{};
  bool ended = false;
};

/// A poll that calls a function when it comes true.
class Then final : public Operation {
 public:
  Then(int on, std::function<void()> then) : Operation(Kind::poll), then_(std::move(then)) {
    descriptor = on;
    flags = POLLIN;
  }
  void completed() noexcept override { then_(); }

 private:
  std::function<void()> then_;
};

/// Two ends that are closed at the end, which the driver is told.
struct Ends {
  explicit Ends(std::array<int, 2> both, Driver* driver = nullptr)
      : first(both[0]), second(both[1]), driver_(driver) {}
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    close(first);
    close(second);
  }
  void close(int& end) {
    if (end < 0) return;
    if (driver_ != nullptr) driver_->closing(end);
    ::close(std::exchange(end, -1));
  }
  int first;
  int second;

 private:
  Driver* driver_;
};

inline std::array<int, 2> pipe_ends() {
  std::array<int, 2> both{-1, -1};
  if (::pipe2(both.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return both;
}

inline std::array<int, 2> socket_ends(int type = SOCK_STREAM) {
  std::array<int, 2> both{-1, -1};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, both.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  return both;
}

/// A listener on a free port of the loopback.
class Listener {
 public:
  explicit Listener(Driver* told = nullptr, int backlog = 128)
      : driver(told), descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        ::listen(descriptor, backlog) != 0 ||
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      throw std::system_error(errno, std::generic_category(), "listen");
  }
  ~Listener() { close(); }
  void close() {
    if (descriptor >= 0 && driver != nullptr) driver->closing(descriptor);
    if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int connect() const {
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(client);
      return -errno;
    }
    return client;
  }

  Driver* driver;  // which is told of the close
  int descriptor;
  sockaddr_in address{};
};

/// Connected TCP ends.
inline std::array<int, 2> tcp_ends() {
  const Listener listener;
  const int client = listener.connect();
  return {client, ::accept4(listener.descriptor, nullptr, nullptr, SOCK_CLOEXEC)};
}

/// An executor on io_uring.
struct UringExecutor {
  explicit UringExecutor(const DriverOptions& options = {}, ExecutorOptions executor_options = {})
      : executor(executor_options) {
    executor.install(std::make_unique<UringDriver>(executor, options));
  }
  UringDriver& driver() { return static_cast<UringDriver&>(*executor.driver()); }
  DriverStatistics statistics() { return driver().statistics(); }

  Executor executor;
};

inline Task<> sleeps(Duration time) { co_await Sleep(time); }

inline Task<> receives(int from, Results& results) {
  std::array<char, 16> into{};
  results.push_back(
      co_await Request(Kind::receive, {.descriptor = from, .memory = into.data(), .length = into.size()}));
}

/// Opens a file, and closes it.
inline Task<> opens_and_closes(bool& done) {
  std::string path = "/dev/null";
  const std::int64_t opened = co_await Request(Kind::open, {.memory = path.data(), .flags = O_RDONLY});
  const std::int64_t closed = co_await Request(Kind::close, {.descriptor = static_cast<int>(opened)});
  done = opened >= 0 && closed == 0;
}

inline bool works(UringExecutor& uring) {
  bool done = false;
  uring.executor.submit(opens_and_closes(done));
  uring.executor.run();
  return done;
}

/// The ways down that a kernel may ask for: everything works the same on each.
struct Way {
  const char* name;
  DriverOptions options;
};

inline std::vector<Way> all_ways() {
  using Use = DriverOptions::Use;
  constexpr std::uint32_t all_but_call = (1U << static_cast<std::uint32_t>(Kind::call)) - 1;
  return {
      {"all that the kernel has", {}},
      {"without deferred work", {.deferred_task_run = Use::never}},
      {"without multishot", {.multishot = Use::never}},
      {"without rings of buffers", {.buffer_ring = Use::never}},
      {"a tiny ring", {.submission_entries = 4, .completion_entries = 8}},
      {"registered descriptors", {.registered_descriptors = 64}},
      {"no copy of any send", {.zero_copy_from_bytes = 1}},
      {"every kind refused", {.refused_kinds = all_but_call}},
      {"every kind refused, no multishot, no rings",
       {.multishot = Use::never, .buffer_ring = Use::never, .refused_kinds = all_but_call}},
  };
}

}  // namespace bide::test::uring
