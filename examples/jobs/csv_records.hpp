#pragma once

#include "input_error.hpp"

#include <csv.h>

#include <string>
#include <string_view>
#include <vector>

namespace bide_jobs {

/// A field with the place of its first character: of the opening quote when it is quoted, of the separator
/// behind it when it is empty.
struct CsvField {
  std::string text;
  Position position;
};

/// Splits a CSV into records with libcsv, which knows quotes and line ends but no places: it is fed character
/// by character, so that the place of what it reports is the place that was reached.
class CsvRecords {
 public:
  CsvRecords(std::string_view text, const std::string& source);
  ~CsvRecords();
  CsvRecords(const CsvRecords&) = delete;
  CsvRecords& operator=(const CsvRecords&) = delete;

  /// The next record that is not a blank line; false at the end. `fields()` and `end()` then tell of it.
  /// Throws: InputError for a quote in the wrong place or one that is never closed.
  bool next();

  const std::vector<CsvField>& fields() const { return fields_; }
  Position end() const { return end_; }  // behind the last character of the record

 private:
  static void on_field(void* text, std::size_t size, void* self);
  static void on_record(int terminator, void* self);

  bool feed(char c);
  void step_over(char c);
  [[noreturn]] void refuse(Position position, const std::string& expected) const;

  std::string_view text_;
  const std::string& source_;
  csv_parser parser_;
  std::size_t offset_ = 0;
  Position here_;
  Position field_start_;
  bool in_field_ = false;  // a character of the field was seen
  bool record_ended_ = false;
  std::size_t field_count_ = 0;
  std::vector<CsvField> fields_;
  Position end_;
};

}  // namespace bide_jobs
