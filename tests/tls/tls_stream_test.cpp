#include <cstddef>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/tls/tls_stream.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/tests/random.hpp>
#include <bide/tests/tls/certificate.hpp>
#include <bide/tests/tls/wire.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

using Session = TlsStream<test::MemoryStream>;
using Bytes = std::vector<std::byte>;
using Log = std::vector<std::string>;

struct Peers {
  explicit Peers(std::size_t step, const std::string& names = "DNS:localhost,IP:127.0.0.1")
      : certificate(names),
        server(TlsContext::server({.certificate_chain_file = certificate.certificate_file().c_str(),
                                   .private_key_file = certificate.key_file().c_str()})),
        client(TlsContext::client({.trusted_file = certificate.certificate_file().c_str()})),
        to_server(std::make_shared<test::Wire>(step)),
        to_client(std::make_shared<test::Wire>(step)) {}

  test::MemoryStream client_end() { return {to_client, to_server}; }
  test::MemoryStream server_end() { return {to_server, to_client}; }

  test::Certificate certificate;
  TlsContext server;
  TlsContext client;
  std::shared_ptr<test::Wire> to_server;
  std::shared_ptr<test::Wire> to_client;
};

Bytes some_bytes(std::size_t count, std::uint64_t seed) {
  test::Random random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

Task<> echo(Peers& peers) {
  Session stream = co_await Session::accept(peers.server_end(), peers.server);
  Bytes buffer(5000);
  for (;;) {
    const std::size_t count = co_await stream.read(buffer);
    if (count == 0) break;
    co_await write_all(stream, std::span<const std::byte>(buffer.data(), count));
  }
  co_await stream.close();
}

Task<> read_to_end(Session& stream, Bytes& out) {
  Bytes buffer(3000);
  for (;;) {
    const std::size_t count = co_await stream.read(buffer);
    if (count == 0) co_return;
    out.insert(out.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

Task<> send_and_receive(Peers& peers, const Bytes& sent, Bytes& received) {
  Session stream = co_await Session::connect(peers.client_end(), peers.client, "localhost");
  Handle<> reader = submit(read_to_end(stream, received));
  co_await write_all(stream, sent);
  co_await stream.shutdown_write();
  co_await reader;
  co_await stream.close();
}

Task<> accept_only(Peers& peers, Log& log) {
  try {
    Session stream = co_await Session::accept(peers.server_end(), peers.server);
    Bytes buffer(10);
    const std::size_t count = co_await stream.read(buffer);
    log.push_back("server read " + std::to_string(count));
  } catch (const std::system_error& error) {
    log.push_back(std::string("server: ") + error.what());
  }
}

Task<> connect_only(Peers& peers, const TlsContext& context, const char* host, Log& log) {
  try {
    Session stream = co_await Session::connect(peers.client_end(), context, host);
    log.push_back("connected");
    co_await stream.close();
    co_return;
  } catch (const std::system_error& error) {
    log.push_back(std::string(error.code().category().name()) + ": " + error.what());
  }
  co_await peers.client_end().close();
}

/// What a client says of a server, when it asks for `host`.
std::string connects(Peers& peers, const TlsContext& context, const char* host) {
  Log log;
  Log ignored;
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(accept_only(peers, ignored));
  executor.submit(connect_only(peers, context, host, log));
  executor.run();
  return log.at(0);
}

}  // namespace

TEST_CASE("TlsStream: what is sent comes back, whatever the wire's steps") {
  for (const std::size_t step : {1UL, 7UL, 1000UL, 100'000UL}) {
    for (const std::size_t size : {0UL, 1UL, 16'384UL, 16'385UL, 200'000UL}) {
      if (step == 1 && size > 20'000) continue;
      Peers peers(step);
      const Bytes sent = some_bytes(size, step + size);
      Bytes received;
      Executor executor({.time = TimeMode::virtual_time});
      executor.submit(echo(peers));
      executor.submit(send_and_receive(peers, sent, received));
      executor.run();
      CHECK(received == sent);
    }
  }
}

TEST_CASE("TlsStream: a client checks whom it talks to") {
  SECTION("by name") {
    Peers peers(1000);
    CHECK(connects(peers, peers.client, "localhost") == "connected");
  }
  SECTION("by address") {
    Peers peers(1000);
    CHECK(connects(peers, peers.client, "127.0.0.1") == "connected");
  }
  SECTION("another name") {
    Peers peers(1000);
    const std::string text = connects(peers, peers.client, "example.org");
    CHECK_THAT(
        text, Catch::Contains("tls: TLS handshake with example.org") && Catch::Contains("hostname mismatch"));
  }
  SECTION("another address") {
    Peers peers(1000);
    CHECK_THAT(connects(peers, peers.client, "10.0.0.1"), Catch::Contains("IP address mismatch"));
  }
  SECTION("nobody it trusts") {
    Peers peers(1000);
    const TlsContext strict = TlsContext::client();
    CHECK_THAT(connects(peers, strict, "localhost"), Catch::Contains("self-signed certificate"));
  }
  SECTION("told not to") {
    Peers peers(1000);
    const TlsContext trusting = TlsContext::client({.verify = TlsVerify::no});
    CHECK(connects(peers, trusting, "example.org") == "connected");
  }
}

TEST_CASE("TlsStream: a wire that ends without a goodbye is an error, not an end") {
  Peers peers(1000);
  Log log;
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(accept_only(peers, log));
  executor.submit(
      {},
      [](Peers& both) -> Task<> {
        Session stream = co_await Session::connect(both.client_end(), both.client, "localhost");
        co_await stream.transport().close();
      },
      std::ref(peers));
  executor.run();
  REQUIRE(log.size() == 1);
  CHECK_THAT(log[0], Catch::Contains("server: TLS read") && Catch::Contains("unexpected eof"));
}

TEST_CASE("TlsStream: a goodbye is the end") {
  Peers peers(1000);
  Log log;
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(accept_only(peers, log));
  executor.submit(connect_only(peers, peers.client, "localhost", log));
  executor.run();
  CHECK(log == Log{"connected", "server read 0"});
}

TEST_CASE("TlsStream: a server refuses what is not TLS") {
  Peers peers(1000);
  Log log;
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(accept_only(peers, log));
  executor.submit(
      {},
      [](Peers& both) -> Task<> {
        test::MemoryStream plain = both.client_end();
        static_cast<void>(co_await plain.write(bytes_of("GET / HTTP/1.1\r\n\r\n")));
      },
      std::ref(peers));
  executor.run();
  REQUIRE(log.size() == 1);
  CHECK_THAT(log[0], Catch::Contains("server: TLS handshake"));
}

TEST_CASE("TlsStream: a read that is cancelled loses nothing") {
  Peers peers(100);
  std::string got;
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(
      {},
      [](Peers& both) -> Task<> {
        Session stream = co_await Session::accept(both.server_end(), both.server);
        co_await Sleep(1s);
        co_await write_all(stream, bytes_of("late"));
        co_await stream.close();
      },
      std::ref(peers));
  executor.submit(
      {},
      [](Peers& both, std::string& text) -> Task<> {
        Session stream = co_await Session::connect(both.client_end(), both.client, "localhost");
        Bytes buffer(100);
        for (int tries = 0; tries < 9; ++tries) {
          const auto nothing = co_await try_timeout(100ms, stream.read(buffer));
          if (nothing) text += "early ";
        }
        const std::size_t count = co_await stream.read(buffer);
        for (std::size_t byte = 0; byte < count; ++byte) text += static_cast<char>(buffer[byte]);
        co_await stream.close();
      },
      std::ref(peers), std::ref(got));
  executor.run();
  CHECK(got == "late");
}

TEST_CASE("TlsStream: a write that is cancelled half way makes the stream fail") {
  Peers peers(1000);
  Log log;
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(
      {},
      [](Peers& both) -> Task<> {
        Session stream = co_await Session::accept(both.server_end(), both.server);
        co_await Sleep(10s);  // and reads nothing
      },
      std::ref(peers));
  executor.submit(
      {},
      [](Peers& both, Log& lines) -> Task<> {
        Session stream = co_await Session::connect(both.client_end(), both.client, "localhost");
        const Bytes many(1'000'000);
        const auto done = co_await try_timeout(1s, write_all(stream, many));
        lines.push_back(done ? "done" : "timed out");
        try {
          co_await write_all(stream, many);
        } catch (const std::system_error& error) {
          lines.push_back(error.what());
        }
      },
      std::ref(peers), std::ref(log));
  executor.run();
  CHECK(log == Log{"timed out", "write to a TLS stream that has failed: Broken pipe"});
}

TEST_CASE("TlsContext: names the file that can't be used") {
  const auto text_of = [](auto make) -> std::string {
    try {
      make();
      return "worked";
    } catch (const std::system_error& error) {
      return error.what();
    }
  };
  const test::Certificate one("DNS:a");
  const test::Certificate other("DNS:b");
  CHECK_THAT(text_of([] { TlsContext::client({.trusted_file = "/nowhere.pem"}); }),
             Catch::Contains("/nowhere.pem"));
  CHECK_THAT(text_of([&] {
               TlsContext::server(
                   {.certificate_chain_file = "/nowhere.pem", .private_key_file = one.key_file().c_str()});
             }),
             Catch::Contains("/nowhere.pem"));
  CHECK_THAT(text_of([&] {
               TlsContext::server({.certificate_chain_file = one.certificate_file().c_str(),
                                   .private_key_file = other.key_file().c_str()});
             }),
             Catch::Contains(other.key_file()));
}
