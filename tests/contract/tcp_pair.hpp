#pragma once

#include <string>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/stream.hpp>
#include <bide/executor/io/tcp.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

namespace bide::test {

inline std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

inline std::string counting(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t place = 0; place < size; ++place)
    text[place] = static_cast<char>('a' + place * place % 23);
  return text;
}

struct Pair {
  TcpStream client;
  TcpStream server;
};

inline Task<> connects(TcpStream& into, Address address) { into = co_await TcpStream::connect(address); }

inline Task<> pair_up(Pair& pair, TcpListener& listener) {
  Handle<> connecting = submit(connects(pair.client, listener.local_address()));
  pair.server = co_await listener.accept();
  co_await connecting;
}

/// A connection, and both its ends in the hands of the behaviour.
inline void with_pair(Stage& stage, Task<> (*body)(Stage& stage, Pair& pair)) {
  stage.submit([&stage, body]() -> Task<> {
    TcpListener listener = TcpListener::bind(Address::loopback(0));
    Pair pair;
    co_await pair_up(pair, listener);
    co_await listener.close();
    co_await body(stage, pair);
  });
  stage.run();
}

inline Task<std::string> read_to_end(TcpStream& stream, std::size_t at_a_time = 1000) {
  std::string all;
  std::string part(at_a_time, '\0');
  for (;;) {
    const std::size_t came = co_await stream.read(room(part));
    if (came == 0) co_return all;
    all.append(part, 0, came);
  }
}

inline Task<std::string> receive_to_end(TcpStream& stream) {
  std::string all;
  for (;;) {
    const Received received = co_await stream.receive();
    if (received.empty()) co_return all;
    all.append(text_of(received.data()));
  }
}

inline Task<> writes(TcpStream& stream, std::string text) {
  co_await stream.write_all(bytes_of(text));
  stream.shutdown_write();
}

inline Task<> reads_one(Stage& stage, TcpStream& stream, std::string name) {
  std::string memory(100, '\0');
  std::string how;
  try {
    const std::size_t came = co_await stream.read(room(memory));
    how = std::to_string(came);
  } catch (const Cancelled&) {
    how = "cancelled";
  } catch (const std::system_error& error) {
    how = error.code() == std::errc::operation_canceled ? "closed" : error.code().message();
  }
  stage.note(name + ": " + how);
}

}  // namespace bide::test
