#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bide_jobs {

/// Text in columns: the first to the left, the others to the right, two spaces between.
class Table {
 public:
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void write(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace bide_jobs
