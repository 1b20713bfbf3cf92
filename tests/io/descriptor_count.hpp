#pragma once

#include <dirent.h>

namespace bide::test {

/// How many descriptors this process has open.
inline int descriptor_count() {
  int count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count - 3;  // ".", ".." and the folder
}

}  // namespace bide::test
