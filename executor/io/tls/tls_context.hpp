#pragma once

#include <cstdint>
#include <memory>
#include <string>

struct ssl_ctx_st;

namespace bide {

/// Whether a client checks the certificate of its server: its chain, and that it is for the host it asked for.
enum class TlsVerify : std::uint8_t { yes, no };

struct TlsClientOptions {
  TlsVerify verify = TlsVerify::yes;
  /// PEM: the certificates to trust. nullptr: those of the machine.
  const char* trusted_file = nullptr;
};

struct TlsServerOptions {
  const char* certificate_chain_file;  // PEM, the server's own first
  const char* private_key_file;        // PEM
};

/// What TLS sessions have in common: trust, certificates, versions. TLS 1.2 and 1.3.
///
/// Errors: std::system_error of `tls_category`, or of the file; its text names the file and what is wrong with it.
/// Source: OpenSSL 3, SSL_CTX(3)
class TlsContext {
 public:
  static TlsContext client(TlsClientOptions options = {});
  static TlsContext server(TlsServerOptions options);

  ssl_ctx_st* native() const { return context_.get(); }

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}

  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace bide
