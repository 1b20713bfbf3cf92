#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace bide {

/// Errors that no errno names: their codes compare equal to these.
enum class IoError : std::uint8_t {
  end_of_stream = 1,  // in the middle of what was to be read
  line_too_long,
  frame_too_long,
};
std::error_code make_error_code(IoError error) noexcept;

/// Throws std::system_error. `what` names call and object: "connect to 127.0.0.1:9" becomes
/// "connect to 127.0.0.1:9: Connection refused". `error`: an errno, or its negative.
[[noreturn]] void throw_io_error(std::int64_t error, const std::string& what);
[[noreturn]] void throw_io_error(IoError error, const std::string& what);

/// The text as part of a line: what is not printable or not UTF-8 becomes \x and two digits, so that names from outside
/// can't forge lines of a log.
std::string escaped(std::string_view text);

/// Where the text stops being UTF-8, or text.size().
std::size_t utf8_end(std::string_view text) noexcept;

}  // namespace bide

template <>
struct std::is_error_code_enum<bide::IoError> : std::true_type {};
