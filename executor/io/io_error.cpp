#include <bide/executor/io/io_error.hpp>

#include <cstdlib>

namespace bide {

namespace {

class IoErrors final : public std::error_category {
 public:
  const char* name() const noexcept override { return "bide.io"; }
  std::string message(int code) const override {
    switch (static_cast<IoError>(code)) {
      case IoError::end_of_stream:
        return "the stream has ended";
      case IoError::line_too_long:
        return "the line is too long";
      case IoError::frame_too_long:
        return "the frame is too long";
    }
    return "error " + std::to_string(code);
  }
};

// How many bytes the sequence has that begins with this byte, and which bits of it count. 0: none begins so.
struct Lead {
  std::size_t length;
  std::uint32_t bits;
};

Lead lead(unsigned char byte) noexcept {
  if (byte < 0x80U) return {1, byte};
  if (byte < 0xC0U) return {0, 0};
  if (byte < 0xE0U) return {2, byte & 0x1FU};
  if (byte < 0xF0U) return {3, byte & 0x0FU};
  if (byte < 0xF8U) return {4, byte & 0x07U};
  return {0, 0};
}

// The length of the character that the text begins with; 0 when that is not UTF-8.
std::size_t character_bytes(std::string_view text) noexcept {
  const Lead first = lead(static_cast<unsigned char>(text.front()));
  if (first.length == 0 || first.length > text.size()) return 0;
  std::uint32_t point = first.bits;
  for (std::size_t place = 1; place < first.length; ++place) {
    const auto byte = static_cast<unsigned char>(text[place]);
    if ((byte & 0xC0U) != 0x80U) return 0;
    point = (point << 6U) | (byte & 0x3FU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  return point < smallest[first.length] || point > 0x10FFFF || surrogate ? 0 : first.length;
}

// Also the controls of Latin-1, which are two bytes in UTF-8, and what starts a line anew in some terminals.
bool printable(std::string_view character) noexcept {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first >= 0x20 && first != 0x7F;
  const auto second = static_cast<unsigned char>(character[1]);
  if (first == 0xC2 && second < 0xA0) return false;
  return character != "\u2028" && character != "\u2029";
}

void append_hexadecimal(std::string& out, char byte) {
  constexpr char digits[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  out += "\\x";
  out += digits[value >> 4U];
  out += digits[value & 15U];
}

}  // namespace

std::error_code make_error_code(IoError error) noexcept {
  static const IoErrors category;
  return {static_cast<int>(error), category};
}

void throw_io_error(std::int64_t error, const std::string& what) {
  throw std::system_error(static_cast<int>(std::abs(error)), std::system_category(), what);
}

void throw_io_error(IoError error, const std::string& what) {
  throw std::system_error(make_error_code(error), what);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t bytes = character_bytes(text.substr(place));
    const std::string_view character = text.substr(place, bytes == 0 ? 1 : bytes);
    if (bytes != 0 && printable(character)) {
      out += character;
    } else {
      for (const char byte : character) append_hexadecimal(out, byte);
    }
    place += character.size();
  }
  return out;
}

std::size_t utf8_end(std::string_view text) noexcept {
  std::size_t place = 0;
  while (place < text.size()) {
    const std::size_t bytes = character_bytes(text.substr(place));
    if (bytes == 0) break;
    place += bytes;
  }
  return place;
}

}  // namespace bide
