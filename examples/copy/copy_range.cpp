#include "copy_range.hpp"

#include <unistd.h>

#include <bide/executor/io/offload.hpp>

namespace bide_copy {

using namespace bide;

namespace {

struct Range {
  int from;
  int to;
  std::uint64_t offset;
  std::size_t size;
};

std::size_t copy_in_kernel(Range range) {
  auto from = static_cast<off64_t>(range.offset);
  auto to = from;
  const ssize_t copied = ::copy_file_range(range.from, &from, range.to, &to, range.size, 0);
  return copied < 0 ? 0 : static_cast<std::size_t>(copied);
}

}  // namespace

Task<std::size_t> copy_range(const File& from, const File& to, std::uint64_t offset, std::size_t size) {
  const Range range{from.number(), to.number(), offset, size};
  co_return co_await offload(copy_in_kernel, range);
}

}  // namespace bide_copy
