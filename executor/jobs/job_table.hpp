#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <bide/executor/jobs/job_entry.hpp>
#include <bide/queue/require.hpp>

namespace bide {

/// The entries of a scheduler: their memory, their ids and their keys.
///
/// Ids of one prefix (shard and epoch) count up, so a page of pointers for each 1,024 of them finds one without a
/// hash; ids of other prefixes, which come from a store, are few and lie in a tree.
/// Cost: make, find and release O(1), without allocation once blocks and pages are there; 8 KiB for a page in which
///       any id is known.
class JobTable {
 public:
  explicit JobTable(JobId prefix) : prefix_(prefix) {}
  ~JobTable();
  JobTable(const JobTable&) = delete;
  JobTable& operator=(const JobTable&) = delete;

  JobEntry& make(JobPool& pool, Priority priority) {
    if (free_.empty()) [[unlikely]]
      add_block();
    JobEntry* const entry = ::new (free_.back()) JobEntry(pool, priority);
    free_.pop_back();
    return *entry;
  }
  /// Requires: not known.
  void release(JobEntry& entry) noexcept {
    require(!entry.known && entry.references == 0, "a job that is still known is released");
    entry.~JobEntry();
    free_.push_back(&entry);
  }

  /// Takes the next id.
  JobId next_id() { return prefix_ + ++count_; }
  /// Ids of the prefix go on behind this one.
  void skip_to(JobId id);
  void add(JobEntry& entry) {
    Page* page = page_at(entry.id);
    if (page == nullptr) [[unlikely]] {
      if (!of_prefix(entry.id)) return add_far(entry);
      page = &make_page((entry.id - prefix_) / page_size);
    }
    page->entries[(entry.id - prefix_) % page_size] = &entry;
    ++page->count;
    entry.known = true;
    ++known_;
  }
  void forget(JobEntry& entry) noexcept {
    entry.known = false;
    --known_;
    Page* const page = page_at(entry.id);
    if (page == nullptr) [[unlikely]]
      return forget_far(entry.id);
    page->entries[(entry.id - prefix_) % page_size] = nullptr;
    if (--page->count == 0) [[unlikely]]
      drop_page((entry.id - prefix_) / page_size);
  }
  JobEntry* find(JobId id) const {
    const Page* const page = page_at(id);
    if (page == nullptr) [[unlikely]]
      return of_prefix(id) ? nullptr : find_far(id);
    return page->entries[(id - prefix_) % page_size];
  }
  std::size_t size() const { return known_; }

  void add_key(const std::string& key, JobEntry& entry) { keys_[key] = &entry; }
  void forget_key(const std::string& key, const JobEntry& entry) noexcept;
  JobEntry* find_key(std::string_view key) const;

  /// Calls `visit(entry)` for each known one with an id above `after`, by id, until it returns false.
  template <class Visit>
  void for_each(JobId after, Visit visit) const {
    auto other = others_.upper_bound(after);
    const auto others_below = [&](JobId limit) {
      for (; other != others_.end() && other->first < limit; ++other)
        if (!visit(*other->second)) return false;
      return true;
    };
    if (!others_below(prefix_)) return;
    std::uint64_t number = after < prefix_ ? 0 : after - prefix_ + 1;
    for (std::size_t page = std::max<std::uint64_t>(number / page_size, first_page_);
         page < first_page_ + pages_.size(); ++page) {
      const Page* const at = pages_[page - first_page_].get();
      if (at == nullptr) continue;
      for (std::uint64_t n = std::max<std::uint64_t>(number, page * page_size); n < (page + 1) * page_size;
           ++n) {
        JobEntry* const entry = at->entries[n % page_size];
        if (entry != nullptr && !visit(*entry)) return;
      }
    }
    others_below(~JobId{0});
  }

 private:
  static constexpr std::uint64_t page_size = 1024;
  static constexpr std::uint64_t numbers = std::uint64_t{1} << 40U;  // of one prefix
  static constexpr std::size_t block_size = 256;

  struct Page {
    std::size_t count = 0;
    JobEntry* entries[page_size] = {};
  };
  struct Slot {
    alignas(64) std::byte space[sizeof(JobEntry)];
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  bool of_prefix(JobId id) const { return id >= prefix_ && id - prefix_ < numbers; }
  /// Null: the id is of another prefix, or no id of its page is known.
  Page* page_at(JobId id) const {
    const std::uint64_t page =
        (id - prefix_) / page_size - first_page_;  // wraps to a high number below either
    return page < pages_.size() ? pages_[page].get() : nullptr;
  }
  Page& make_page(std::uint64_t page);
  void drop_page(std::uint64_t page) noexcept;
  void add_block();
  // Ids of other prefixes.
  void add_far(JobEntry& entry);
  void forget_far(JobId id) noexcept { others_.erase(id); }
  JobEntry* find_far(JobId id) const;

  JobId prefix_;
  std::uint64_t count_ = 0;
  std::size_t known_ = 0;
  std::uint64_t first_page_ = 0;  // the number of pages_[0]
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<Page>> spare_pages_;
  std::map<JobId, JobEntry*> others_;
  std::unordered_map<std::string, JobEntry*, TextHash, std::equal_to<>> keys_;  // never iterated
  std::vector<std::unique_ptr<Slot[]>> blocks_;
  std::vector<void*> free_;
};

}  // namespace bide
