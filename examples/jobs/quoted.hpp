#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bide_jobs {

/// `text` in double quotes on one line: quotes, backslashes and control characters are escaped, what is
/// longer than `limit` bytes is cut and ends in `...`. For text from a file that a message repeats.
std::string quoted(std::string_view text, std::size_t limit = 40);

/// `text` as it is when it can stand as one word of a line, else quoted in full.
std::string word(std::string_view text);

}  // namespace bide_jobs
