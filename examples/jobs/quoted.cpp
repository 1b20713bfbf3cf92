#include "quoted.hpp"

#include <algorithm>

namespace bide_jobs {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool stands_in_a_word(char c) { return !is_control(c) && c != ' ' && c != '"' && c != '\\' && c != '='; }

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

void append_escaped(std::string& out, char c) {
  constexpr const char* digits = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (is_control(c)) {
    out += "\\x";
    out += digits[static_cast<unsigned char>(c) >> 4U];
    out += digits[static_cast<unsigned char>(c) & 0xfU];
  } else {
    out += c;
  }
}

}  // namespace

std::string quoted(std::string_view text, std::size_t limit) {
  std::string_view kept = text;
  if (text.size() > limit) {
    while (limit > 0 && continues_a_character(text[limit])) --limit;
    kept = text.substr(0, limit);
  }
  std::string out = "\"";
  for (char c : kept) append_escaped(out, c);
  out += kept.size() < text.size() ? "...\"" : "\"";
  return out;
}

std::string word(std::string_view text) {
  // A lone dash stands for "none" where words stand in columns.
  bool plain = !text.empty() && text != "-" && std::all_of(text.begin(), text.end(), stands_in_a_word);
  return plain ? std::string(text) : quoted(text, text.size());
}

}  // namespace bide_jobs
