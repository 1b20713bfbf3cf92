#include "target_path.hpp"

#include <cctype>
#include <vector>

namespace bide_http {

namespace {

std::optional<int> hex_digit(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return std::nullopt;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t place = 0; place < text.size(); ++place) {
    char character = text[place];
    if (character == '%') {
      if (place + 2 >= text.size()) return std::nullopt;
      const auto high = hex_digit(text[place + 1]);
      const auto low = hex_digit(text[place + 2]);
      if (!high || !low) return std::nullopt;
      character = static_cast<char>(*high * 16 + *low);
      place += 2;
    }
    if (character == '\0') return std::nullopt;
    out += character;
  }
  return out;
}

}  // namespace

std::optional<std::string> target_path(std::string_view target) {
  if (const std::size_t scheme = target.find("://");
      !target.empty() && target.front() != '/' && scheme != std::string_view::npos) {
    const std::size_t path = target.find('/', scheme + 3);  // an absolute URI, as proxies get them
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  target = target.substr(0, target.find_first_of("?#"));
  if (target.empty() || target.front() != '/') return std::nullopt;
  const auto text = unescaped(target);
  if (!text) return std::nullopt;
  std::vector<std::string_view> steps;
  const std::string_view whole = *text;
  for (std::size_t begin = 1; begin <= whole.size();) {
    const std::size_t end = std::min(whole.find('/', begin), whole.size());
    const std::string_view step = whole.substr(begin, end - begin);
    if (step == "..") {
      if (steps.empty()) return std::nullopt;
      steps.pop_back();
    } else if (!step.empty() && step != ".") {
      steps.push_back(step);
    }
    begin = end + 1;
  }
  std::string path;
  for (const std::string_view step : steps) {
    if (!path.empty()) path += '/';
    path += step;
  }
  if (!path.empty() && whole.back() == '/') path += '/';
  return path;
}

std::string escaped(std::string_view text, std::string_view kept) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool alphanumeric = byte < 0x80 && std::isalnum(byte) != 0;  // in the C locale
    if (alphanumeric || kept.find(character) != std::string_view::npos) {
      out += character;
    } else {
      out += '%';
      out += digits[byte >> 4U];
      out += digits[byte & 0xfU];
    }
  }
  return out;
}

std::string with_slash(std::string_view path, std::string_view target) {
  std::string location = "/" + escaped(path, "-._~/") + "/";
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  if (mark != std::string_view::npos) location += escaped(target.substr(mark), "-._~!$&'()*+,;=:@/?%");
  return location;
}

std::string_view media_type(std::string_view path) {
  struct Type {
    std::string_view ending;
    std::string_view name;
  };
  static constexpr Type types[] = {
      {".html", "text/html; charset=utf-8"},
      {".htm", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".json", "application/json"},
      {".txt", "text/plain; charset=utf-8"},
      {".md", "text/markdown; charset=utf-8"},
      {".csv", "text/csv; charset=utf-8"},
      {".xml", "application/xml"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".jpg", "image/jpeg"},
      {".jpeg", "image/jpeg"},
      {".gif", "image/gif"},
      {".webp", "image/webp"},
      {".ico", "image/x-icon"},
      {".pdf", "application/pdf"},
      {".wasm", "application/wasm"},
      {".woff2", "font/woff2"},
      {".mp4", "video/mp4"},
      {".mp3", "audio/mpeg"},
      {".gz", "application/gzip"},
      {".zip", "application/zip"},
  };
  for (const Type& type : types) {
    if (path.size() > type.ending.size() && path.substr(path.size() - type.ending.size()) == type.ending)
      return type.name;
  }
  return "application/octet-stream";
}

}  // namespace bide_http
