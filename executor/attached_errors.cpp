#include <bide/executor/attached_errors.hpp>

#include <algorithm>
#include <utility>

namespace bide {

void AttachedErrors::attach(const std::exception_ptr& first, std::vector<std::exception_ptr> others) {
  for (Entry& entry : entries_) {
    if (entry.first != first) continue;
    const std::size_t room = most_of_one - std::min(most_of_one, entry.others.size());
    const auto end = others.begin() + static_cast<std::ptrdiff_t>(std::min(room, others.size()));
    entry.others.insert(entry.others.end(), others.begin(), end);
    return;
  }
  if (others.size() > most_of_one) others.resize(most_of_one);
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
