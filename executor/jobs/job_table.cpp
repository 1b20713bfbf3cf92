#include <bide/executor/jobs/job_table.hpp>

#include <new>
#include <utility>

#include <bide/queue/require.hpp>

namespace bide {

JobTable::~JobTable() = default;

JobEntry& JobTable::make(JobEngine& engine, Priority priority) {
  if (free_.empty()) {
    free_.reserve((blocks_.size() + 1) * block_size);
    blocks_.push_back(std::make_unique<Slot[]>(block_size));
    for (std::size_t i = block_size; i-- > 0;) free_.push_back(blocks_.back()[i].space);
  }
  JobEntry* const entry = ::new (free_.back()) JobEntry(engine, priority);
  free_.pop_back();
  return *entry;
}

void JobTable::release(JobEntry& entry) noexcept {
  require(!entry.known && entry.references == 0, "a job that is still known is released");
  entry.~JobEntry();
  free_.push_back(&entry);
}

void JobTable::skip_to(JobId id) {
  if (of_prefix(id)) count_ = std::max(count_, id - prefix_);
}

JobTable::Page& JobTable::page_of(std::uint64_t number) {
  const std::uint64_t page = number / page_size;
  if (pages_.empty()) first_page_ = page;
  while (page < first_page_) {  // an older one, from a store
    pages_.insert(pages_.begin(), nullptr);
    --first_page_;
  }
  while (page - first_page_ >= pages_.size()) pages_.emplace_back();
  std::unique_ptr<Page>& at = pages_[page - first_page_];
  if (at == nullptr) at = spare_page_ != nullptr ? std::move(spare_page_) : std::make_unique<Page>();
  return *at;
}

void JobTable::add(JobEntry& entry) {
  if (of_prefix(entry.id)) {
    Page& page = page_of(entry.id - prefix_);
    page.entries[(entry.id - prefix_) % page_size] = &entry;
    ++page.count;
  } else {
    others_.emplace(entry.id, &entry);
  }
  entry.known = true;
  ++known_;
}

void JobTable::forget(JobEntry& entry) noexcept {
  entry.known = false;
  --known_;
  if (!of_prefix(entry.id)) {
    others_.erase(entry.id);
    return;
  }
  const std::uint64_t number = entry.id - prefix_;
  std::unique_ptr<Page>& page = pages_[number / page_size - first_page_];
  page->entries[number % page_size] = nullptr;
  if (--page->count != 0) return;
  spare_page_ = std::move(page);
  std::size_t empty = 0;
  while (empty < pages_.size() && pages_[empty] == nullptr) ++empty;
  if (empty * 2 < pages_.size() && empty < 64) return;  // moved rarely, and never more than a few
  pages_.erase(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(empty));
  first_page_ += empty;
}

JobEntry* JobTable::find(JobId id) const {
  if (!of_prefix(id)) {
    const auto found = others_.find(id);
    return found == others_.end() ? nullptr : found->second;
  }
  const std::uint64_t number = id - prefix_;
  const std::uint64_t page = number / page_size;
  if (page < first_page_ || page - first_page_ >= pages_.size()) return nullptr;
  const Page* const at = pages_[page - first_page_].get();
  return at == nullptr ? nullptr : at->entries[number % page_size];
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
