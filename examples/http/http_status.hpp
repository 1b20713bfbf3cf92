#pragma once

#include <string_view>

namespace bide_http {

/// The words behind a status; "Internal Server Error" for one that no program here uses.
std::string_view reason_phrase(int status);

}  // namespace bide_http
