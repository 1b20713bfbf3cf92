#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace bide::bench {

/// Memory of this process that lies in RAM, in whole pages: what it has touched, whoever handed it out.
inline std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all_pages = 0;
  std::size_t resident_pages = 0;
  file >> all_pages >> resident_pages;
  return resident_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace bide::bench
