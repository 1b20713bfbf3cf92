#include "api_call.hpp"

#include "api_error.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace bide_jobs {
namespace {

/// The percent signs of a target, taken out. Throws: ApiError 400.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
    } else {
      unsigned byte = 0;
      const std::string_view digits = text.substr(i + 1, 2);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2)
        throw ApiError(400, "the target has a percent sign without two digits behind it");
      plain += static_cast<char>(byte);
      i += 2;
    }
  }
  return plain;
}

/// In a query, as forms send it, a plus sign is a space.
std::string unescaped_in_query(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return unescaped(spaced);
}

/// Calls `use` with each part between marks.
template <class Use>
void split(std::string_view text, char mark, Use use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(mark), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

ApiCall::ApiCall(const bide_http::Request& request) : method(request.method_name), body(request.body) {
  std::string_view target = request.target;
  const std::size_t mark = std::min(target.find('?'), target.size());
  split(target.substr(0, mark), '/', [this](std::string_view part) {
    if (!part.empty()) path.push_back(unescaped(part));
  });
  target.remove_prefix(std::min(mark + 1, target.size()));
  split(target, '&', [this](std::string_view part) {
    if (part.empty()) return;
    const std::size_t equals = std::min(part.find('='), part.size());
    query[unescaped_in_query(part.substr(0, equals))] =
        unescaped_in_query(part.substr(std::min(equals + 1, part.size())));
  });
  if (method == "HEAD") method = "GET";
}

bool ApiCall::is(std::initializer_list<std::string_view> parts) const {
  return std::equal(parts.begin(), parts.end(), path.begin(), path.end());
}

std::uint64_t ApiCall::number(const std::string& name, std::uint64_t otherwise) const {
  const auto found = query.find(name);
  if (found == query.end()) return otherwise;
  const std::optional<std::uint64_t> parsed = parse_whole(found->second);
  if (!parsed) throw ApiError(400, "parameter " + name + ": expected a whole number");
  return *parsed;
}

std::string ApiCall::text(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

}  // namespace bide_jobs
