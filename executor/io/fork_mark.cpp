#include <bide/executor/io/fork_mark.hpp>

#include <cerrno>
#include <system_error>

#include <sys/mman.h>

namespace bide {

namespace {

constexpr std::size_t mark_bytes = 1;  // the kernel rounds up to a page

}  // namespace

static_assert(ForkMark::error == EPERM);

ForkMark::ForkMark() : page_(nullptr) {
  void* const page = ::mmap(nullptr, mark_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of a page");
  if (::madvise(page, mark_bytes, MADV_WIPEONFORK) != 0) {
    const int error_number = errno;
    ::munmap(page, mark_bytes);
    throw std::system_error(error_number, std::generic_category(), "madvise WIPEONFORK");
  }
  auto* const mark = static_cast<unsigned char*>(page);
  *mark = 1;
  page_ = mark;
}

ForkMark::~ForkMark() { ::munmap(const_cast<unsigned char*>(page_), mark_bytes); }

}  // namespace bide
