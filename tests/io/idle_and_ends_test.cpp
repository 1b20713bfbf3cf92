// Listeners that wait, are closed or destroyed at an awkward moment, and other ends: of streams, sets of signals, numbers.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/file.hpp>
#include <bide/executor/io/pipe.hpp>
#include <bide/executor/io/signals.hpp>
#include <bide/executor/io/tcp.hpp>
#include <bide/executor/io/unix.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/sync/select.hpp>

#include "io_run.hpp"
#include "temporary_folder.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

ExecutorOptions with_driver(DriverOptions::Choice choice) {
  ExecutorOptions options;
  options.io.choice = choice;
  return options;
}

ExecutorOptions on_each_driver() {
  return with_driver(GENERATE(DriverOptions::Choice::uring, DriverOptions::Choice::epoll));
}

Descriptor plain_client(const Address& address) {
  Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(client.number(), address.data(), address.size()) != 0) return {};
  return client;
}

Task<> accept_some(TcpListener& listener, int count, int* accepted) {
  for (; *accepted < count; ++*accepted) const TcpStream stream = co_await listener.accept();
}

}  // namespace

TEST_CASE("TcpListener: one that waits for its next client is no deadlock") {
  ExecutorOptions options = on_each_driver();
  options.deadlock_after = 20ms;
  Executor executor(options);
  TcpListener listener = TcpListener::bind(Address::loopback(0));
  int accepted = 0;
  executor.submit(accept_some(listener, 3, &accepted));
  std::thread clients([address = listener.local_address()] {
    for (int i = 0; i < 3; ++i) {
      const Descriptor client = plain_client(address);
      std::this_thread::sleep_for(100ms);
    }
  });
  executor.run();
  clients.join();
  CHECK(accepted == 3);
}

namespace {

Task<> accept_or_say(TcpListener& listener, std::vector<std::string>* said, bool closes) {
  try {
    const TcpStream stream = co_await listener.accept();
    said->push_back("a connection");
  } catch (const std::system_error& error) {
    said->push_back(error.code() == std::errc::operation_canceled ? "cancelled" : error.what());
    co_return;
  }
  if (closes) co_await listener.close();
}

Task<> close_it(TcpListener& listener) { co_await listener.close(); }

Task<> close_with_arrivals(std::size_t clients, bool closer, std::vector<std::string>* said) {
  TcpListener listener = TcpListener::bind(Address::loopback(0));
  std::vector<Descriptor> connected;
  std::vector<Handle<>> handles;
  if (closer)
    for (std::size_t i = 0; i < clients; ++i) connected.push_back(plain_client(listener.local_address()));
  for (int i = 0; i < 3; ++i) handles.push_back(submit(accept_or_say(listener, said, i == 0 && !closer)));
  if (closer)
    handles.push_back(submit(close_it(listener)));
  else
    co_await Sleep(20ms);
  while (connected.size() < clients) connected.push_back(plain_client(listener.local_address()));
  for (Handle<>& handle : handles) co_await handle;
}

}  // namespace

TEST_CASE("TcpListener: a close that meets a connection ends, and so does every accept") {
  ExecutorOptions options = on_each_driver();
  options.io.multishot = GENERATE(DriverOptions::Use::if_there, DriverOptions::Use::never);
  const std::size_t clients = GENERATE(0U, 1U, 2U, 3U);
  const bool closer = clients == 0 || GENERATE(true, false);
  std::vector<std::string> said;
  run_io(close_with_arrivals(clients, closer, &said), options);
  CHECK(said.size() == 3);
}

namespace {

Task<> close_without_descriptors(std::vector<std::string>* said) {
  TcpListener listener = TcpListener::bind(Address::loopback(0), {.exhausted = nullptr});
  const Descriptor client = plain_client(listener.local_address());
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const int lowest = ::dup(STDERR_FILENO);
  ::close(lowest);
  rlimit none = limit;
  none.rlim_cur = static_cast<rlim_t>(lowest);
  ::setrlimit(RLIMIT_NOFILE, &none);
  Handle<> accepting = submit(accept_or_say(listener, said, false));
  Handle<> closing = submit(close_it(listener));
  co_await closing;
  co_await accepting;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Task<> close_without_any_driver(TcpListener& listener, bool* open) {
  try {
    co_await listener.close();
  } catch (const std::system_error&) {
  }
  *open = listener.is_open();
}

Task<> use_driver() {
  PipeEnds ends = pipe();
  co_await ends.writer.write_all(bytes_of("x"));
}

}  // namespace

TEST_CASE("TcpListener: a close beside an accept that has run out of descriptors") {
  Executor executor(on_each_driver());
  executor.submit(use_driver());
  executor.run();
  std::vector<std::string> said;
  executor.submit(close_without_descriptors(&said));
  executor.run();
  CHECK(said == std::vector<std::string>{"cancelled"});
}

TEST_CASE("TcpListener: closed without the means for a driver it is gone all the same") {
  Executor executor(on_each_driver());
  TcpListener listener = TcpListener::bind(Address::loopback(0));
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  rlimit none = limit;
  none.rlim_cur = 3;
  ::setrlimit(RLIMIT_NOFILE, &none);
  bool open = true;
  executor.submit(close_without_any_driver(listener, &open));
  executor.run();
  ::setrlimit(RLIMIT_NOFILE, &limit);
  CHECK(!open);
}

namespace {

Task<> select_accept(TcpListener& listener, Duration longest, std::vector<std::size_t>* arms) {
  const auto accepting = [&listener] { return listener.accept(); };
  for (int i = 0; i < 2; ++i) {
    const auto selected = co_await select(accepting, Sleep(longest));
    arms->push_back(selected.index);
  }
}

}  // namespace

TEST_CASE("TcpListener: an accept in a select loses, and goes with its executor") {
  TcpListener listener = TcpListener::bind(Address::loopback(0));
  std::vector<std::size_t> arms;
  Executor executor(on_each_driver());
  executor.submit(select_accept(listener, 5ms, &arms));
  executor.run();
  CHECK(arms == std::vector<std::size_t>{1, 1});
  executor.submit(select_accept(listener, 1h, &arms));
  executor.run_for(5ms);
}

namespace {

Task<> send_much(UnixStream stream, std::size_t size) {
  const std::string text = bytes_that_count(size);
  co_await stream.write_all(bytes_of(text));
}

Task<std::size_t> receive_all(std::size_t size) {
  auto [sender, receiver] = UnixStream::pair();
  Handle<> sending = submit(send_much(std::move(sender), size));
  std::size_t received = 0;
  for (;;) {
    const Received part = co_await timeout(5s, receiver.receive());
    if (part.empty()) break;
    received += part.size();
  }
  co_await sending;
  co_return received;
}

}  // namespace

TEST_CASE("UnixStream: receive sees the end, also after the buffers had run out") {
  ExecutorOptions options = on_each_driver();
  options.io.buffer_count = 8;
  CHECK(run_io(receive_all(65'536), options) == 65'536);
}

namespace {

Task<std::string> read_from_unowned(int number) {
  PipeReader reader(Descriptor(number, Descriptor::Owned::no));
  std::array<std::byte, 8> bytes{};
  const std::size_t count = co_await timeout(5s, reader.read(bytes));
  co_return std::string(reinterpret_cast<const char*>(bytes.data()), count);
}

Task<> write_later(int number, const char* text) {
  co_await Sleep(5ms);
  CHECK(::write(number, text, 1) == 1);
}

Task<std::string> reuse_numbers() {
  std::string seen;
  for (const char* text : {"a", "b", "c"}) {
    int ends[2];
    CHECK(::pipe2(ends, O_CLOEXEC) == 0);
    Handle<> writing = submit(write_later(ends[1], text));
    std::string part = co_await read_from_unowned(ends[0]);
    seen += part;
    co_await writing;
    ::close(ends[0]);
    ::close(ends[1]);
  }
  co_return seen;
}

}  // namespace

TEST_CASE("Descriptor: the number of one that was not owned comes again") {
  ExecutorOptions options = on_each_driver();
  options.io.registered_descriptors = GENERATE(0U, 64U);
  CHECK(run_io(reuse_numbers(), options) == "abc");
}

namespace {

Task<> append_and_read(std::string path, std::string* seen) {
  File file = co_await File::open(path, OpenMode::read | OpenMode::append | OpenMode::create);
  co_await file.write_all_at(0, bytes_of("first "));
  co_await file.write_all_at(0, bytes_of("second"));
  std::array<std::byte, 32> bytes{};
  const std::size_t count = co_await file.read_at(0, bytes);
  *seen = std::string(reinterpret_cast<const char*>(bytes.data()), count);
  try {
    co_await file.write_at(UINT64_MAX, bytes_of("nowhere"));
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::invalid_argument) *seen += ", invalid";
  }
}

}  // namespace

TEST_CASE("File: append goes with read, and an offset that no file has is refused") {
  const TemporaryFolder folder;
  std::string seen;
  run_io(append_and_read(folder / "file", &seen), on_each_driver());
  CHECK(seen == "first second, invalid");
}

namespace {

Task<int> next_of_two(int signal) {
  auto first = std::make_unique<SignalSet>(std::initializer_list<int>{signal});
  SignalSet second({signal});
  first.reset();
  ::raise(signal);
  co_return co_await second.next();
}

}  // namespace

TEST_CASE("SignalSet: one that goes leaves blocked what another needs") {
  CHECK(run_io(next_of_two(SIGUSR1), on_each_driver()) == SIGUSR1);
  sigset_t now;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
  CHECK(sigismember(&now, SIGUSR1) == 0);
}

namespace {

Task<std::error_code> write_after_signal_set() {
  auto set = std::make_unique<SignalSet>(std::initializer_list<int>{SIGPIPE});
  PipeEnds ends = pipe();
  co_await ends.writer.write_all(bytes_of("x"));
  set.reset();
  co_await ends.reader.close();
  try {
    co_await ends.writer.write_all(bytes_of("x"));
  } catch (const std::system_error& error) {
    co_return error.code();
  }
  co_return std::error_code();
}

}  // namespace

TEST_CASE("SignalSet: SIGPIPE stays blocked while a driver needs it") {
  CHECK(run_io(write_after_signal_set(), on_each_driver()) == std::errc::broken_pipe);
}
