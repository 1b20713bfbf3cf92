#include "csv_records.hpp"

#include <new>

namespace bide_jobs {

CsvRecords::CsvRecords(std::string_view text, const std::string& source) : text_(text), source_(source) {
  if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text_.substr(0, byte_order_mark.size()) == byte_order_mark) offset_ = byte_order_mark.size();
}

CsvRecords::~CsvRecords() { csv_free(&parser_); }

void CsvRecords::on_field(void* text, std::size_t size, void* self) {
  auto* records = static_cast<CsvRecords*>(self);
  if (records->field_count_ == records->fields_.size()) records->fields_.emplace_back();
  CsvField& field = records->fields_[records->field_count_++];  // keeps the memory of earlier records
  field.text.assign(static_cast<const char*>(text), size);
  field.position = records->field_start_;
  records->in_field_ = false;
}

void CsvRecords::on_record(int, void* self) { static_cast<CsvRecords*>(self)->record_ended_ = true; }

void CsvRecords::refuse(Position position, const std::string& expected) const {
  throw InputError(source_, position, "expected " + expected);
}

bool CsvRecords::feed(char c) {
  bool blank = c == ' ' || c == '\t';
  if (!in_field_ && !blank) {
    field_start_ = here_;
    in_field_ = true;
  }
  std::size_t fields_before = field_count_;
  if (csv_parse(&parser_, &c, 1, on_field, on_record, this) != 1) {
    if (csv_error(&parser_) != CSV_EPARSE) throw std::bad_alloc();
    if (c == '"') refuse(here_, "a quote only around a whole field (and \"\" for one inside)");
    refuse(here_, "a comma or the end of the line behind the closing quote");
  }
  // A line end that ended no field is a blank line: the next field begins behind it.
  bool line_end = c == '\n' || c == '\r';
  if (line_end && field_count_ == fields_before && field_start_.line == here_.line &&
      field_start_.column == here_.column) {
    in_field_ = false;
  }
  return record_ended_;
}

void CsvRecords::step_over(char c) {
  bool last_of_line_end = c == '\n' || (c == '\r' && (offset_ >= text_.size() || text_[offset_] != '\n'));
  if (last_of_line_end) {
    ++here_.line;
    here_.column = 1;
  } else if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) {
    ++here_.column;
  }
}

bool CsvRecords::next() {
  field_count_ = 0;
  record_ended_ = false;
  while (offset_ < text_.size()) {
    char c = text_[offset_++];
    end_ = here_;
    bool complete = feed(c);
    step_over(c);
    if (complete) {
      fields_.resize(field_count_);
      return true;
    }
  }
  end_ = here_;
  if (!in_field_) field_start_ = here_;
  if (csv_fini(&parser_, on_field, on_record, this) != 0)
    refuse(field_start_, "a closing quote for this one");
  if (record_ended_) fields_.resize(field_count_);
  return record_ended_;
}

}  // namespace bide_jobs
