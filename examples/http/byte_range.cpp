#include "byte_range.hpp"

#include <algorithm>
#include <charconv>

namespace bide_http {

namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return UINT64_MAX;
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

RangeAnswer answer_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view unit = "bytes=";
  const RangeAnswer unsatisfiable{.kind = RangeAnswer::Kind::unsatisfiable};
  header = trimmed(header);
  if (header.substr(0, unit.size()) != unit) return {};
  const std::string_view spec = trimmed(header.substr(unit.size()));
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos || spec.find(',') != std::string_view::npos) return {};
  const std::string_view first_text = trimmed(spec.substr(0, dash));
  const std::string_view last_text = trimmed(spec.substr(dash + 1));
  if (first_text.empty()) {  // the last so many bytes
    const auto count = number(last_text);
    if (!count) return {};
    if (*count == 0 || size == 0) return unsatisfiable;
    const std::uint64_t taken = std::min(*count, size);
    return {.kind = RangeAnswer::Kind::part, .part = {.first = size - taken, .count = taken}};
  }
  const auto first = number(first_text);
  const auto last = last_text.empty() ? std::optional<std::uint64_t>(UINT64_MAX) : number(last_text);
  if (!first || !last || *last < *first) return {};
  if (*first >= size) return unsatisfiable;
  const std::uint64_t end = std::min(*last, size - 1) + 1;
  return {.kind = RangeAnswer::Kind::part, .part = {.first = *first, .count = end - *first}};
}

}  // namespace bide_http
