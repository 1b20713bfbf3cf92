#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bide_http {

/// The file that a request's target names, relative to the root, without a slash in front; "" is the root itself.
/// nullopt: none can have that name: a bad escape, a NUL, or a step out of the root by "..".
///
/// Source: RFC 3986, sections 2.1 and 5.2.4.
std::optional<std::string> target_path(std::string_view target);

/// `text` with percent signs for all bytes but ASCII letters and digits and those of `kept`.
std::string escaped(std::string_view text, std::string_view kept);

/// Where a client that asks for a directory without its slash is sent, to ask for what the answer can be relative to.
/// `path`: what target_path made of `target`, whose query is kept. Only bytes that a header may have.
std::string with_slash(std::string_view path, std::string_view target);

/// By the ending of the name; "application/octet-stream" where it says nothing.
std::string_view media_type(std::string_view path);

}  // namespace bide_http
