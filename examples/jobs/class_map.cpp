#include "class_map.hpp"

#include "input_error.hpp"
#include "quoted.hpp"

#include <charconv>

namespace bide_jobs {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

[[noreturn]] void refuse(const std::string& expected, std::string_view found) {
  throw InputError("--classes", "expected " + expected + ", found " + quoted(found));
}

ClassMap::Field parse_field(std::string_view word) {
  if (word == "queue") return ClassMap::Field::queue;
  if (word == "partition") return ClassMap::Field::partition;
  refuse("queue or partition and a colon, such as queue:0=high,1=low", word);
}

std::int64_t parse_number(std::string_view text) {
  std::int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    refuse("a number of a queue or partition before =", text);
  }
  return number;
}

}  // namespace

std::optional<Priority> parse_class(std::string_view word) {
  std::string name;
  for (char c : word) name += lower(c);
  for (Priority priority : {Priority::critical, Priority::high, Priority::normal, Priority::low}) {
    if (name == to_string(priority)) return priority;
  }
  return std::nullopt;
}

ClassMap ClassMap::parse(std::string_view text) {
  ClassMap map;
  std::size_t colon = text.find(':');
  map.field_ = parse_field(colon == std::string_view::npos ? text : text.substr(0, colon));
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (rest.empty()) refuse("at least one number=class after the colon", text);

  while (!rest.empty()) {
    std::size_t comma = rest.find(',');
    std::string_view pair = rest.substr(0, comma);
    std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) refuse("number=class", pair);
    std::optional<Priority> priority = parse_class(pair.substr(equals + 1));
    if (!priority) refuse("a class: critical, high, normal or low", pair.substr(equals + 1));
    if (!map.classes_.emplace(parse_number(pair.substr(0, equals)), *priority).second) {
      refuse("each number once", pair);
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) refuse("number=class after the comma", text);
  }
  return map;
}

Priority ClassMap::of(std::int64_t number) const {
  auto found = classes_.find(number);
  return found == classes_.end() ? Priority::normal : found->second;
}

}  // namespace bide_jobs
