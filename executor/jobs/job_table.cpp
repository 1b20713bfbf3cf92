#include <bide/executor/jobs/job_table.hpp>

#include <utility>

namespace bide {

JobTable::~JobTable() = default;

void JobTable::add_block() {
  free_.reserve((blocks_.size() + 1) * block_size);
  blocks_.push_back(std::make_unique_for_overwrite<Slot[]>(block_size));
  for (std::size_t i = block_size; i-- > 0;) free_.push_back(blocks_.back()[i].space);
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
