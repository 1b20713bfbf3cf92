#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <bide/executor/io/tls/tls_context.hpp>

struct ssl_st;

namespace bide {

/// One TLS session between plain bytes and the bytes on the wire: it computes, and waits for nothing.
///
/// Whoever drives it carries `outgoing` to the peer, and what comes from there to `feed`.
/// Errors: std::system_error of `tls_category`; the session is useless then.
/// Owns:   what is on its way: at most what was fed and written since the last step.
class TlsEngine {
 public:
  /// A client. `host`: whom the certificate has to name; a name, which is told to the server, or an IP address.
  TlsEngine(const TlsContext& context, const std::string& host);
  /// A server.
  explicit TlsEngine(const TlsContext& context);

  /// True: the handshake is done. False: it goes on when more was fed. Either may leave something outgoing.
  bool handshake();

  /// How a read went: some bytes; none, and the peer has ended its side; none yet.
  struct Read {
    std::size_t bytes = 0;
    bool ended = false;
  };
  Read read(std::span<std::byte> into);

  /// Takes as many as fit into one record, at least one byte. Requires: the handshake is done; not empty.
  std::size_t write(std::span<const std::byte> from);

  /// Tells the peer that nothing more will be written.
  void end();

  void feed(std::span<const std::byte> received);
  /// The wire has ended. If the peer has not said so before, the next read fails: it may be an attack.
  void feed_end();

  bool has_outgoing() const;
  /// Moves outgoing bytes out. Returns: how many.
  std::size_t take_outgoing(std::span<std::byte> into);

  /// "TLSv1.3"
  std::string version() const;

 private:
  [[noreturn]] void fail(const char* what) const;

  struct Free {
    void operator()(ssl_st* session) const;
  };
  std::unique_ptr<ssl_st, Free> session_;
  std::string host_;  // empty: a server
};

}  // namespace bide
