#include <bide/executor/attached_errors.hpp>

#include <algorithm>

namespace bide {

void AttachedErrors::attach(const std::exception_ptr& first, const std::vector<std::exception_ptr>& others) {
  auto entry = std::find_if(entries_.begin(), entries_.end(),
                            [&first](const Entry& kept) { return kept.first == first; });
  if (entry == entries_.end()) {
    if (entries_.size() == kept_count) entries_.erase(entries_.begin());
    entry = entries_.insert(entries_.end(), {first, {}});
  }
  entry->others.insert(entry->others.end(), others.begin(), others.end());
  if (entry->others.size() > most_of_one) entry->others.resize(most_of_one);
}

std::vector<std::exception_ptr> AttachedErrors::of(const std::exception_ptr& first) const {
  for (const Entry& entry : entries_) {
    if (entry.first == first) return entry.others;
  }
  return {};
}

}  // namespace bide
