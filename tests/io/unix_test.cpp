#include <sys/socket.h>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/unix.hpp>

#include "io_run.hpp"
#include "temporary_folder.hpp"

using namespace bide;
using namespace bide::test;

namespace {

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

Task<> greets(Address address) {
  UnixStream stream = co_await UnixStream::connect(address);
  co_await stream.write_all(bytes_of("hello"));
  co_await stream.close();
}

Task<std::string> greeted_at(UnixListener& listener) {
  Handle<> client = submit(greets(listener.local_address()));
  UnixStream stream = co_await listener.accept();
  std::string text(5, '\0');
  co_await stream.read_exactly(room(text));
  std::string more(1, '\0');
  const std::size_t came = co_await stream.read(room(more));
  if (came != 0) text += " and more";
  co_await client;
  co_return text;
}

TEST_CASE("UnixListener: serves a path and an abstract name, and removes the path that it made") {
  const TemporaryFolder folder;
  std::vector<std::string> log;
  run_io([](std::string path, std::vector<std::string>& lines) -> Task<> {
    UnixListener listener = UnixListener::bind(Address::unix_path(path));
    std::string text = co_await greeted_at(listener);
    lines.push_back(text);
    lines.emplace_back(std::filesystem::exists(path) ? "there" : "gone");
    co_await listener.close();
    lines.emplace_back(std::filesystem::exists(path) ? "there" : "gone");
    { UnixListener again = UnixListener::bind(Address::unix_path(path)); }
    lines.emplace_back(std::filesystem::exists(path) ? "there" : "gone");
    UnixListener abstract = UnixListener::bind(Address::unix_abstract(path));
    std::string other = co_await greeted_at(abstract);
    lines.push_back(other);
  }(folder / "socket", log));
  CHECK(log == std::vector<std::string>{"hello", "there", "gone", "gone", "hello"});
}

std::string bind_error(const std::string& path, UnixListenOptions options) {
  try {
    const UnixListener listener = UnixListener::bind(Address::unix_path(path), options);
    return "bound";
  } catch (const std::system_error& error) {
    return error.what();
  }
}

TEST_CASE("UnixListener: a path left behind is removed if that is wished, one in use never") {
  const TemporaryFolder folder;
  const std::string path = folder / "socket";
  const std::string in_use = "listen on unix:" + path + ": Address already in use";
  const UnixListenOptions removing{.stale_path = UnixListenOptions::Stale::remove};
  {
    const UnixListener living = UnixListener::bind(Address::unix_path(path));
    CHECK(bind_error(path, {}) == in_use);
    CHECK(bind_error(path, removing) == in_use);
  }
  const Address address = Address::unix_path(path);
  const int left = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(::bind(left, address.data(), address.size()) == 0);
  { const Descriptor gone(left); }
  CHECK(bind_error(path, {}) == in_use);
  CHECK(bind_error(path, removing) == "bound");
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("UnixListener: a file that another has put in the place of its path stays") {
  const TemporaryFolder folder;
  const std::string path = folder / "socket";
  {
    const UnixListener listener = UnixListener::bind(Address::unix_path(path));
    std::filesystem::rename(path, folder / "moved");
    std::ofstream(path) << "mine";
  }
  CHECK(content_of(path) == "mine");
}

// FAULTS K6
TEST_CASE("UnixStream: a write to a peer that is gone is an error, and no signal") {
  const Failure failure = run_io(failure_of([]() -> Task<> {
    auto [one, other] = UnixStream::pair();
    co_await other.close();
    co_await one.write(bytes_of("x"));
  }));
  CHECK(failure.code == std::errc::broken_pipe);
}

TEST_CASE("UnixStream: a connection that nobody listens for names call and path") {
  const TemporaryFolder folder;
  const std::string path = folder / "nobody";
  const Failure failure = run_io(failure_of(greets, Address::unix_path(path)));
  CHECK(failure.text == "connect to unix:" + path + ": No such file or directory");
  CHECK(run_io(failure_of(greets, Address::loopback(1))).code == std::errc::address_family_not_supported);
}

TEST_CASE("UnixDatagram: whole datagrams in order, with the sender's path") {
  const TemporaryFolder folder;
  std::vector<std::string> log;
  run_io([](std::string path, std::vector<std::string>& lines) -> Task<> {
    UnixDatagram server = UnixDatagram::bind(Address::unix_path(path));
    UnixDatagram named = UnixDatagram::bind(Address::unix_path(path + ".client"));
    UnixDatagram nameless = UnixDatagram::unbound();
    co_await named.send_to(bytes_of("one"), Address::unix_path(path));
    co_await nameless.send_to(bytes_of("two"), Address::unix_path(path));
    std::string text(10, '\0');
    for (int turn = 0; turn < 2; ++turn) {
      const ReceivedDatagram datagram = co_await server.recv_from(room(text));
      const bool from_named = datagram.from == named.local_address();
      lines.push_back(text.substr(0, datagram.size) +
                      (from_named ? " named" : " " + datagram.from.to_string()));
    }
    co_await server.close();
  }(folder / "socket", log));
  CHECK(log == std::vector<std::string>{"one named", "two nowhere"});
  CHECK_FALSE(std::filesystem::exists(folder / "socket"));
}

}  // namespace
