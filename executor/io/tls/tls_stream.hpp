#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <bide/executor/io/stream.hpp>
#include <bide/executor/io/tls/tls_engine.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/task.hpp>

namespace bide {

/// TLS over any stream (executor/io/stream.hpp), itself such a stream.
///
///     const TlsContext context = TlsContext::client();
///     TcpStream plain = co_await TcpStream::connect(address);
///     auto stream = co_await TlsStream<TcpStream>::connect(std::move(plain), context, "example.org");
///
/// One thread reads and one writes at a time, as with any stream.
/// Cancel: a read that is cancelled loses nothing. A handshake or a write that is cancelled may have sent a part: the
///         stream fails from then on.
/// Throws: what the transport throws; std::system_error of `tls_category`: a bad certificate, a broken record, a wire
///         that ended without the peer's goodbye.
/// Owns:   the transport; 16 KiB for what comes in, and the same for what goes out.
template <class Transport>
class TlsStream {
 public:
  /// Shakes hands as a client. `host`: what the server's certificate must name. Use: the context may go afterwards.
  static Task<TlsStream> connect(Transport transport, const TlsContext& context, std::string host) {
    TlsStream stream(std::make_unique<Session>(std::move(transport), TlsEngine(context, host)));
    co_await shake_hands(*stream.session_);
    co_return stream;
  }

  /// Shakes hands as a server.
  static Task<TlsStream> accept(Transport transport, const TlsContext& context) {
    TlsStream stream(std::make_unique<Session>(std::move(transport), TlsEngine(context)));
    co_await shake_hands(*stream.session_);
    co_return stream;
  }

  /// Returns: how many bytes came, at least one; 0: the peer has said that it will write no more, or `into` is empty.
  Task<std::size_t> read(std::span<std::byte> into) { return read_from(*session_, into); }

  /// Returns: how many bytes were taken and sent, at least one of a span that is not empty.
  Task<std::size_t> write(std::span<const std::byte> from) { return write_to(*session_, from); }

  /// Tells the peer that nothing more will be written; reading goes on.
  Task<> shutdown_write() { return end(*session_); }

  /// Says goodbye, if that is still possible, and closes the transport.
  Task<> close() { return close(*session_); }

  Transport& transport() { return session_->transport; }
  std::string version() const { return session_->engine.version(); }

 private:
  struct Session {
    Session(Transport wire, TlsEngine made) : transport(std::move(wire)), engine(std::move(made)) {}
    Transport transport;
    TlsEngine engine;
    Mutex sending;        // records leave in the order in which they were made
    bool broken = false;  // a part of a record may have been sent
    bool ended = false;
    std::array<std::byte, 16 * 1024> incoming;
    std::array<std::byte, 16 * 1024> outgoing;
  };

  explicit TlsStream(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  // Requires: the caller holds `sending`.
  static Task<> send_outgoing(Session& session) {
    if (session.broken)
      throw std::system_error(EPIPE, std::generic_category(), "write to a TLS stream that has failed");
    session.broken = true;  // until all is sent
    while (session.engine.has_outgoing()) {
      const std::size_t count = session.engine.take_outgoing(session.outgoing);
      co_await write_all(session.transport, std::span<const std::byte>(session.outgoing.data(), count));
    }
    session.broken = false;
  }

  static Task<> flush(Session& session) {
    if (!session.engine.has_outgoing()) co_return;
    // Who sends goes on until nothing is left. A reader that waited for that would not read, nor then might the peer.
    Mutex::Guard guard = session.sending.try_lock();
    if (!guard) co_return;
    co_await send_outgoing(session);
  }

  static Task<> receive(Session& session) {
    const std::size_t count = co_await session.transport.read(session.incoming);
    if (count == 0) {
      session.engine.feed_end();
    } else {
      session.engine.feed(std::span<const std::byte>(session.incoming.data(), count));
    }
  }

  static Task<> shake_hands(Session& session) {
    for (;;) {
      bool done = false;
      std::exception_ptr error;
      try {
        done = session.engine.handshake();
      } catch (const std::system_error&) {
        error = std::current_exception();
      }
      co_await flush(session);  // also an alert that says why it failed
      if (error != nullptr) std::rethrow_exception(error);
      if (done) co_return;
      co_await receive(session);
    }
  }

  static Task<std::size_t> read_from(Session& session, std::span<std::byte> into) {
    if (into.empty()) co_return 0;
    for (;;) {
      const TlsEngine::Read read = session.engine.read(into);
      if (read.bytes > 0 || read.ended) co_return read.bytes;
      co_await flush(session);
      co_await receive(session);
    }
  }

  static Task<std::size_t> write_to(Session& session, std::span<const std::byte> from) {
    if (from.empty()) co_return 0;
    Mutex::Guard guard = co_await session.sending.lock();
    const std::size_t count = session.engine.write(from);
    co_await send_outgoing(session);
    co_return count;
  }

  static Task<> end(Session& session) {
    Mutex::Guard guard = co_await session.sending.lock();
    if (session.ended) co_return;
    session.ended = true;
    session.engine.end();
    co_await send_outgoing(session);
  }

  static Task<> close(Session& session) {
    try {
      if (!session.broken) co_await end(session);
    } catch (const std::system_error&) {  // the peer has gone: there is nobody to tell
    }
    co_await session.transport.close();
  }

  std::unique_ptr<Session> session_;
};

}  // namespace bide
