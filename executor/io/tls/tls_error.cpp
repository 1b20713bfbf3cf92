#include <bide/executor/io/tls/tls_error.hpp>

#include <openssl/err.h>

namespace bide {

namespace {

class TlsCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tls"; }
  std::string message(int code) const override {
    const char* const reason =
        ::ERR_reason_error_string(static_cast<unsigned long>(static_cast<unsigned>(code)));
    return reason != nullptr ? reason : "TLS error " + std::to_string(code);
  }
};

}  // namespace

const std::error_category& tls_category() noexcept {
  static const TlsCategory category;
  return category;
}

void throw_tls_error(const std::string& what, const std::string& detail) {
  const unsigned long code = ::ERR_get_error();
  ::ERR_clear_error();
  const std::string text = detail.empty() ? what : what + " (" + detail + ")";
  if (ERR_SYSTEM_ERROR(code)) throw std::system_error(ERR_GET_REASON(code), std::generic_category(), text);
  throw std::system_error(static_cast<int>(static_cast<unsigned>(code)), tls_category(), text);
}

}  // namespace bide
