#include <bide/executor/attached_errors.hpp>

#include <utility>

namespace bide {

void AttachedErrors::attach(const std::exception_ptr& first, std::vector<std::exception_ptr> others) {
  for (Entry& entry : entries_) {
    if (entry.first != first) continue;
    entry.others.insert(entry.others.end(), others.begin(), others.end());
    return;
  }
  if (entries_.size() == kept_count) entries_.erase(entries_.begin());
  entries_.push_back({first, std::move(others)});
}

std::vector<std::exception_ptr> AttachedErrors::of(const std::exception_ptr& first) const {
  for (const Entry& entry : entries_) {
    if (entry.first == first) return entry.others;
  }
  return {};
}

}  // namespace bide
