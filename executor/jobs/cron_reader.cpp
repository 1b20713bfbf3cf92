#include <bide/executor/jobs/cron_reader.hpp>

#include <algorithm>
#include <span>

namespace bide {

namespace {

constexpr std::string_view months[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view weekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

constexpr struct {
  std::string_view name;
  std::string_view meaning;
} nicknames[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::uint64_t bits(std::uint64_t low, std::uint64_t high, std::uint64_t step = 1) {
  std::uint64_t set = 0;
  for (std::uint64_t value = low; value <= high; value += step) set |= std::uint64_t{1} << value;
  return set;
}

}  // namespace

struct CronReader::Field {
  const char* name;
  std::uint64_t low;
  std::uint64_t high;
  std::span<const std::string_view> names = {};
  enum class Days { neither, of_month, of_week } days = Days::neither;
};

void CronReader::read() {
  using Days = Field::Days;
  constexpr Field second{"second", 0, 59};
  constexpr Field minute{"minute", 0, 59};
  constexpr Field hour{"hour", 0, 23};
  constexpr Field day{.name = "day", .low = 1, .high = 31, .days = Days::of_month};
  constexpr Field month{.name = "month", .low = 1, .high = 12, .names = months};
  constexpr Field weekday{.name = "weekday", .low = 0, .high = 7, .names = weekdays, .days = Days::of_week};

  const std::string_view whole = text_;
  for (const auto& nickname : nicknames) {
    if (text_ == nickname.name) text_ = nickname.meaning;
  }
  const std::vector<Part> parts = split();
  if (parts.size() != 5 && parts.size() != 6) {
    const std::size_t column = parts.size() > 6 ? parts[6].column : whole.size() + 1;
    fail("", column, "five fields (minute hour day month weekday), or six with the second first",
         std::to_string(parts.size()) + " fields");
  }
  const Part* part = parts.data();
  if (parts.size() == 6) into_.seconds_ = read_list(second, *part++);
  into_.minutes_ = read_list(minute, *part++);
  into_.hours_ = read_list(hour, *part++);
  const Part& days = *part;
  into_.days_ = read_list(day, *part++);
  into_.months_ = read_list(month, *part++);
  const std::uint64_t read = read_list(weekday, *part);
  into_.weekdays_ = (read | read >> 7U) & bits(0, 6);
  refuse_days_that_never_come(days);
}

std::vector<CronReader::Part> CronReader::split() const {
  std::vector<Part> parts;
  std::size_t at = 0;
  while ((at = text_.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text_.find_first_of(" \t", at), text_.size());
    parts.push_back({text_.substr(at, end - at), at + 1});
    at = end;
  }
  return parts;
}

std::uint64_t CronReader::read_list(const Field& field, Part part) {
  std::uint64_t set = 0;
  for (;;) {
    const std::size_t comma = std::min(part.text.find(','), part.text.size());
    set |= read_item(field, {part.text.substr(0, comma), part.column});
    if (comma == part.text.size()) return set;
    part = {part.text.substr(comma + 1), part.column + comma + 1};
  }
}

// `*`, `a`, `a-b`, each with `/step`, or what only the fields of days have.
std::uint64_t CronReader::read_item(const Field& field, Part item) {
  Part rest = item;
  const auto take = [&rest](char c) {
    if (!rest.text.starts_with(c)) return false;
    rest = {rest.text.substr(1), rest.column + 1};
    return true;
  };
  std::uint64_t low = field.low;
  std::uint64_t high = field.days == Field::Days::of_week ? 6 : field.high;
  const bool any = take('*') || (field.days != Field::Days::neither && take('?'));
  if (!any) {
    if (field.days == Field::Days::of_month && item.text == "L") return read_special(field, item);
    low = read_value(field, rest);
    if (field.days == Field::Days::of_week && (rest.text.starts_with('L') || rest.text.starts_with('#')))
      return read_special(field, item);
    if (take('-')) {
      const Part end = rest;
      high = read_value(field, rest);
      // Weeks may be said to end on Sunday.
      if (field.days == Field::Days::of_week && high == 0 && low > 0) high = 7;
      if (high < low) fail(field.name, end.column, "a range that ends where it starts or later", item.text);
    } else if (!rest.text.starts_with('/')) {
      high = low;
    }
  }
  std::uint64_t step = 1;
  if (take('/'))
    step = read_number(field, rest, 1, std::max<std::uint64_t>(field.high - field.low, 1), "a step");
  if (!rest.text.empty()) fail(field.name, rest.column, "',', '-', '/' or the end of the field", rest.text);
  return bits(low, high, step);
}

// `L` of the days; `5L` and `5#2` of the weekdays. These are no bits of the field, which is left without them.
std::uint64_t CronReader::read_special(const Field& field, Part item) {
  if (field.days == Field::Days::of_month) {
    into_.last_day_ = true;
    return 0;
  }
  Part rest = item;
  const std::uint64_t weekday = std::uint64_t{1} << (read_value(field, rest) % 7);
  const bool last = rest.text.front() == 'L';
  rest = {rest.text.substr(1), rest.column + 1};
  if (last) {
    into_.last_weekdays_ |= weekday;
  } else {
    into_.nth_weekdays_[read_number(field, rest, 1, 5, "which of the month")] |= weekday;
  }
  if (!rest.text.empty()) fail(field.name, rest.column, "',' or the end of the field", rest.text);
  return 0;
}

std::uint64_t CronReader::read_value(const Field& field, Part& rest) const {
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    const std::string_view name = field.names[i];
    const std::string_view head = rest.text.substr(0, name.size());
    if (!std::equal(head.begin(), head.end(), name.begin(), name.end(),
                    [](char a, char b) { return lower(a) == b; }))
      continue;
    rest = {rest.text.substr(name.size()), rest.column + name.size()};
    return field.low + i;
  }
  return read_number(field, rest, field.low, field.high,
                     field.names.empty() ? "a number" : "a name or a number");
}

std::uint64_t CronReader::read_number(const Field& field, Part& rest, std::uint64_t low, std::uint64_t high,
                                      const char* what) const {
  std::size_t length = 0;
  std::uint64_t value = 0;
  while (length < rest.text.size() && is_digit(rest.text[length])) {
    value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(rest.text[length] - '0'), 1000);
    ++length;
  }
  if (length == 0 || value < low || value > high)
    fail(field.name, rest.column, what + (" from " + std::to_string(low)) + " to " + std::to_string(high),
         rest.text);
  rest = {rest.text.substr(length), rest.column + length};
  return value;
}

// Only a day of the month can be one that no allowed month has.
void CronReader::refuse_days_that_never_come(const Part& day) const {
  const std::uint64_t short_months = bits(4, 6, 2) | bits(9, 11, 2);  // April, June, September, November
  const std::uint64_t every_weekday = bits(0, 6);
  const bool by_weekday = into_.weekdays_ != every_weekday;
  if (by_weekday || into_.last_day_) return;
  const std::uint64_t february = std::uint64_t{1} << 2U;
  std::uint64_t possible = 0;
  if ((into_.months_ & february) != 0) possible |= bits(1, 29);
  if ((into_.months_ & short_months) != 0) possible |= bits(1, 30);
  if ((into_.months_ & ~short_months & ~february) != 0) possible |= bits(1, 31);
  if ((into_.days_ & possible) == 0) fail("day", day.column, "a day that one of the months has", day.text);
}

void CronReader::fail(const char* field, std::size_t column, const std::string& expected,
                      std::string_view found) const {
  std::string message = "cron '" + std::string(text_) + "', ";
  if (*field != '\0') message += std::string(field) + ", ";
  message += "column " + std::to_string(column) + ": expected " + expected + ", found ";
  message += found.empty() ? "the end" : "'" + std::string(found) + "'";
  throw CronError(message, field, column);
}

}  // namespace bide
