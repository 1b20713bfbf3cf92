#pragma once

#include <string>
#include <system_error>

namespace bide {

/// OpenSSL's error codes; the messages are its reasons.
const std::error_category& tls_category() noexcept;

/// Throws std::system_error with the oldest error in OpenSSL's queue of this OS thread, and empties the queue.
/// `what` names call and object; `detail`, if any, stands behind it.
[[noreturn]] void throw_tls_error(const std::string& what, const std::string& detail = {});

}  // namespace bide
