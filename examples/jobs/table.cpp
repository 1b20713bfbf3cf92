#include "table.hpp"

#include <algorithm>
#include <ostream>

namespace bide_jobs {

void Table::write(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows_) {
    if (row.size() > widths.size()) widths.resize(row.size());
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::string gap(widths[column] - row[column].size(), ' ');
      if (column > 0) line += "  ";
      line += column == 0 ? row[column] + gap : gap + row[column];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  }
}

}  // namespace bide_jobs
