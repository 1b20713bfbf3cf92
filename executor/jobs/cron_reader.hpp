#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <bide/executor/jobs/cron.hpp>

namespace bide {

/// Reads the text of a Cron into its bits.
class CronReader {
 public:
  CronReader(std::string_view text, Cron& into) : text_(text), into_(into) {}
  void read();

 private:
  struct Field;  // what is allowed in one

  struct Part {
    std::string_view text;
    std::size_t column;  // of its first character, from 1
  };

  std::vector<Part> split() const;
  std::uint64_t read_list(const Field& field, Part part);
  std::uint64_t read_item(const Field& field, Part item);
  std::uint64_t read_special(const Field& field, Part item);
  std::uint64_t read_value(const Field& field, Part& rest) const;
  std::uint64_t read_number(const Field& field, Part& rest, std::uint64_t low, std::uint64_t high,
                            const char* what) const;
  void refuse_days_that_never_come(const Part& day) const;
  [[noreturn]] void fail(const char* field, std::size_t column, const std::string& expected,
                         std::string_view found) const;

  std::string_view text_;
  Cron& into_;
};

}  // namespace bide
