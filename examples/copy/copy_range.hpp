#pragma once

#include <cstddef>
#include <cstdint>

#include <bide/executor/io/file.hpp>
#include <bide/executor/task.hpp>

namespace bide_copy {

/// Copies bytes of one file to the same place in another within the kernel, from page to page or by sharing blocks of
/// the disk.
///
/// Returns: how many bytes, which may be fewer; 0 where kernel or file system can't, or nothing is there to copy. Errors are
///          not told: whoever reads and writes these bytes instead finds out what is wrong.
/// Requires: the files stay open until it has ended, also when it is cancelled.
bide::Task<std::size_t> copy_range(const bide::File& from, const bide::File& to, std::uint64_t offset,
                                   std::size_t size);

}  // namespace bide_copy
