#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <bide/executor/jobs/job_entry.hpp>

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

  JobEntry& make(JobEngine& engine, Priority priority);
  /// Requires: not known.
  void release(JobEntry& entry) noexcept;

  /// Takes the next id.
  JobId next_id() { return prefix_ + ++count_; }
  /// Ids of the prefix go on behind this one.
  void skip_to(JobId id);
  void add(JobEntry& entry);
  void forget(JobEntry& entry) noexcept;
  JobEntry* find(JobId id) const;
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
    alignas(JobEntry) std::byte space[sizeof(JobEntry)];
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  bool of_prefix(JobId id) const { return id >= prefix_ && id - prefix_ < numbers; }
  Page& page_of(std::uint64_t number);

  JobId prefix_;
  std::uint64_t count_ = 0;
  std::size_t known_ = 0;
  std::uint64_t first_page_ = 0;  // the number of pages_[0]
  std::vector<std::unique_ptr<Page>> pages_;
  std::unique_ptr<Page> spare_page_;
  std::map<JobId, JobEntry*> others_;
  std::unordered_map<std::string, JobEntry*, TextHash, std::equal_to<>> keys_;  // never iterated
  std::vector<std::unique_ptr<Slot[]>> blocks_;
  std::vector<void*> free_;
};

}  // namespace bide
