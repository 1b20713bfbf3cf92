#include <bide/executor/jobs/job_table.hpp>

#include <algorithm>
#include <utility>

#include <sys/mman.h>

namespace bide {

JobTable::~JobTable() = default;

void JobTable::FreeBlock::operator()(Slot* slots) const noexcept {
  ::operator delete(slots, std::align_val_t(alignment));
}

/// Each block is twice the one before, up to one of the kernel's huge pages: of 100,000 jobs that wait, each is looked at
/// after it has long left the caches, and that of addresses holds few small pages.
void JobTable::add_block() {
  constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;
  const std::size_t size = std::min(next_block_size_, huge_page_bytes / sizeof(Slot));
  const bool huge = size < next_block_size_;
  const std::size_t bytes = huge ? huge_page_bytes : size * sizeof(Slot);
  free_.reserve(slot_count_ + size);
  blocks_.reserve(blocks_.size() + 1);
  const std::size_t alignment = huge ? huge_page_bytes : alignof(Slot);
  auto* const slots = static_cast<Slot*>(::operator new(bytes, std::align_val_t(alignment)));
  if (huge) madvise(slots, bytes, MADV_HUGEPAGE);  // a wish: without it all is as correct
  blocks_.emplace_back(slots, FreeBlock{alignment});
  slot_count_ += size;
  next_block_size_ = huge ? next_block_size_ : 2 * size;
  for (std::size_t i = size; i-- > 0;) free_.push_back(slots[i].space);
}

void JobTable::skip_to(JobId id) {
  if (of_prefix(id)) count_ = std::max(count_, id - prefix_);
}

JobTable::Page& JobTable::make_page(std::uint64_t page) {
  if (pages_.empty()) first_page_ = page;
  while (page < first_page_) {  // an older one, from a store
    pages_.insert(pages_.begin(), nullptr);
    --first_page_;
  }
  while (page - first_page_ >= pages_.size()) pages_.emplace_back();
  std::unique_ptr<Page>& at = pages_[page - first_page_];
  if (spare_pages_.empty()) {
    at = std::make_unique<Page>();
  } else {
    at = std::move(spare_pages_.back());
    spare_pages_.pop_back();
  }
  spare_pages_.reserve(pages_.capacity());  // a page that is dropped has its place
  return *at;
}

void JobTable::drop_page(std::uint64_t page) noexcept {
  spare_pages_.push_back(std::move(pages_[page - first_page_]));
  std::size_t empty = 0;
  while (empty < pages_.size() && pages_[empty] == nullptr) ++empty;
  if (empty * 2 < pages_.size() && empty < 64) return;  // moved rarely, and never more than a few
  pages_.erase(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(empty));
  first_page_ += empty;
}

void JobTable::add_far(JobEntry& entry) {
  others_.emplace(entry.id, &entry);
  entry.known = true;
  ++known_;
}

JobEntry* JobTable::find_far(JobId id) const {
  const auto found = others_.find(id);
  return found == others_.end() ? nullptr : found->second;
}

void JobTable::forget_key(const std::string& key, const JobEntry& entry) noexcept {
  const auto found = keys_.find(key);
  if (found != keys_.end() && found->second == &entry) keys_.erase(found);
}

JobEntry* JobTable::find_key(std::string_view key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : found->second;
}

}  // namespace bide
