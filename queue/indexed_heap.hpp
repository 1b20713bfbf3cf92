#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bide {

/// A heap that tells each entry where it is, so that one can be taken from the middle without a search.
///
/// `Entry` is small and copied about; it carries its key, so that comparing touches no node. It has
/// `bool before(const Entry&) const`, a total order. Every call that moves entries takes `settle(entry,
/// position)` and calls it for each one that moved.
///
/// Invariant: an entry does not go before its parent; the children of i are 4i+1 to 4i+4.
/// Order:     the top is the least entry; the rest of the array depends only on the calls made so far.
template <class Entry>
class IndexedHeap {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const Entry& top() const { return entries_.front(); }
  Entry& operator[](std::uint32_t position) { return entries_[position]; }

  /// Calls `visit(entry)` for each, in the order of the array.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) visit(entry);
  }

  /// Makes the next push free of allocation.
  void make_room() {
    constexpr std::size_t smallest = 16;
    if (entries_.size() == entries_.capacity()) entries_.reserve(std::max(smallest, entries_.size() * 2));
  }

  /// Holds `count` entries before it has to grow.
  void reserve(std::size_t count) {
    if (count > entries_.capacity()) entries_.reserve(std::max(count, entries_.capacity() * 2));
  }

  /// Throws: std::bad_alloc, and nothing has changed.
  template <class Settle>
  void push(const Entry& entry, Settle settle) {
    entries_.push_back(entry);
    rise(static_cast<std::uint32_t>(entries_.size() - 1), entry, settle);
  }

  template <class Settle>
  void erase(std::uint32_t position, Settle settle) {
    const Entry last = entries_.back();
    entries_.pop_back();
    if (position == entries_.size()) return;
    if (position != 0 && last.before(entries_[(position - 1) / arity]))
      rise(position, last, settle);
    else
      sink(position, last, settle);
  }

 private:
  static constexpr std::uint32_t arity = 4;

  template <class Settle>
  void rise(std::uint32_t position, const Entry entry, Settle& settle) {
    while (position != 0) {
      const std::uint32_t parent = (position - 1) / arity;
      if (!entry.before(entries_[parent])) break;
      place(position, entries_[parent], settle);
      position = parent;
    }
    place(position, entry, settle);
  }

  template <class Settle>
  void sink(std::uint32_t position, const Entry entry, Settle& settle) {
    const std::size_t size = entries_.size();
    for (;;) {
      const std::size_t first = std::size_t{position} * arity + 1;
      if (first >= size) break;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < std::min(first + arity, size); ++child)
        if (entries_[child].before(entries_[least])) least = child;
      if (!entries_[least].before(entry)) break;
      place(position, entries_[least], settle);
      position = static_cast<std::uint32_t>(least);
    }
    place(position, entry, settle);
  }

  template <class Settle>
  void place(std::uint32_t position, const Entry entry, Settle& settle) {
    entries_[position] = entry;
    settle(entries_[position], position);
  }

  std::vector<Entry> entries_;
};

}  // namespace bide
