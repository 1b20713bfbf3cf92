#include <bide/executor/io/tls/tls_context.hpp>

#include <new>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <bide/executor/io/tls/tls_error.hpp>

namespace bide {

namespace {

SSL_CTX* make_context(const SSL_METHOD* method) {
  ::ERR_clear_error();
  SSL_CTX* const context = ::SSL_CTX_new(method);
  if (context == nullptr) throw_tls_error("make a TLS context");
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  ::SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  // A buffer that may move between the tries of a write, and idle sessions without buffers.
  ::SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
  return context;
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const { ::SSL_CTX_free(context); }

TlsContext TlsContext::client(TlsClientOptions options) {
  TlsContext made(make_context(::TLS_client_method()));
  SSL_CTX* const context = made.native();
  if (options.verify == TlsVerify::no) {
    ::SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    return made;
  }
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (options.trusted_file == nullptr) {
    if (::SSL_CTX_set_default_verify_paths(context) != 1)
      throw_tls_error("load the machine's trusted certificates");
  } else if (::SSL_CTX_load_verify_file(context, options.trusted_file) != 1) {
    throw_tls_error(std::string("load trusted certificates from ") + options.trusted_file);
  }
  return made;
}

TlsContext TlsContext::server(TlsServerOptions options) {
  TlsContext made(make_context(::TLS_server_method()));
  SSL_CTX* const context = made.native();
  if (::SSL_CTX_use_certificate_chain_file(context, options.certificate_chain_file) != 1)
    throw_tls_error(std::string("load certificates from ") + options.certificate_chain_file);
  if (::SSL_CTX_use_PrivateKey_file(context, options.private_key_file, SSL_FILETYPE_PEM) != 1)
    throw_tls_error(std::string("load the private key from ") + options.private_key_file);
  if (::SSL_CTX_check_private_key(context) != 1)
    throw_tls_error(std::string("match the private key of ") + options.private_key_file +
                    " with the certificate of " + options.certificate_chain_file);
  return made;
}

}  // namespace bide
