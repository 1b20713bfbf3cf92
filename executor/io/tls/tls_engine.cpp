#include <bide/executor/io/tls/tls_engine.hpp>

#include <algorithm>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <bide/executor/io/tls/tls_error.hpp>
#include <bide/queue/require.hpp>

namespace bide {

namespace {

constexpr std::size_t record_bytes = 16 * 1024;

int clamped(std::size_t bytes) { return static_cast<int>(std::min<std::size_t>(bytes, record_bytes)); }

SSL* make_session(const TlsContext& context) {
  ::ERR_clear_error();
  SSL* const session = ::SSL_new(context.native());
  BIO* const from_wire = ::BIO_new(::BIO_s_mem());
  BIO* const to_wire = ::BIO_new(::BIO_s_mem());
  if (session == nullptr || from_wire == nullptr || to_wire == nullptr) {
    ::SSL_free(session);
    ::BIO_free(from_wire);
    ::BIO_free(to_wire);
    throw_tls_error("make a TLS session");
  }
  ::SSL_set_bio(session, from_wire, to_wire);  // which are the session's now
  return session;
}

}  // namespace

void TlsEngine::Free::operator()(ssl_st* session) const { ::SSL_free(session); }

TlsEngine::TlsEngine(const TlsContext& context, const std::string& host)
    : session_(make_session(context)), host_(host) {
  SSL* const session = session_.get();
  if (host.empty())
    throw std::system_error(EINVAL, std::generic_category(), "TLS client without the name of a host");
  // set1_ip_asc takes addresses alone; names are also told to the server, addresses may not be.
  if (::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str()) != 1) {
    ::ERR_clear_error();
    ::SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (::SSL_set1_host(session, host.c_str()) != 1 || ::SSL_set_tlsext_host_name(session, host.c_str()) != 1)
      throw_tls_error("TLS client for " + host);
  }
  ::SSL_set_connect_state(session);
}

TlsEngine::TlsEngine(const TlsContext& context) : session_(make_session(context)) {
  ::SSL_set_accept_state(session_.get());
}

void TlsEngine::fail(const char* what) const {
  std::string text = std::string("TLS ") + what;
  if (!host_.empty()) text += " with " + host_;
  const long verified = ::SSL_get_verify_result(session_.get());
  throw_tls_error(text, verified == X509_V_OK ? "" : ::X509_verify_cert_error_string(verified));
}

bool TlsEngine::handshake() {
  ::ERR_clear_error();
  const int done = ::SSL_do_handshake(session_.get());
  if (done == 1) return true;
  if (::SSL_get_error(session_.get(), done) != SSL_ERROR_WANT_READ) fail("handshake");
  return false;
}

TlsEngine::Read TlsEngine::read(std::span<std::byte> into) {
  ::ERR_clear_error();
  const int count = ::SSL_read(session_.get(), into.data(), clamped(into.size()));
  if (count > 0) return {.bytes = static_cast<std::size_t>(count)};
  switch (::SSL_get_error(session_.get(), count)) {
    case SSL_ERROR_WANT_READ:
      return {};
    case SSL_ERROR_ZERO_RETURN:
      return {.ended = true};
    default:
      fail("read");
  }
}

std::size_t TlsEngine::write(std::span<const std::byte> from) {
  require(!from.empty(), "TlsEngine::write of nothing");
  ::ERR_clear_error();
  const int count = ::SSL_write(session_.get(), from.data(), clamped(from.size()));
  if (count <= 0) fail("write");
  return static_cast<std::size_t>(count);
}

void TlsEngine::end() {
  ::ERR_clear_error();
  if (::SSL_shutdown(session_.get()) < 0) fail("shutdown");
}

void TlsEngine::feed(std::span<const std::byte> received) {
  BIO* const from_wire = ::SSL_get_rbio(session_.get());
  while (!received.empty()) {
    const int count = ::BIO_write(from_wire, received.data(), clamped(received.size()));
    if (count <= 0) fail("receive");
    received = received.subspan(static_cast<std::size_t>(count));
  }
}

void TlsEngine::feed_end() { BIO_set_mem_eof_return(::SSL_get_rbio(session_.get()), 0); }

bool TlsEngine::has_outgoing() const { return ::BIO_ctrl_pending(::SSL_get_wbio(session_.get())) > 0; }

std::size_t TlsEngine::take_outgoing(std::span<std::byte> into) {
  const int count = ::BIO_read(::SSL_get_wbio(session_.get()), into.data(), clamped(into.size()));
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::string TlsEngine::version() const { return ::SSL_get_version(session_.get()); }

}  // namespace bide
