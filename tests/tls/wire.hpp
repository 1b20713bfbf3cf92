#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/event.hpp>

namespace bide::test {

/// One direction of a stream in memory, which hands over at most `step` bytes at a time.
struct Wire {
  explicit Wire(std::size_t most) : step(most) {}
  std::size_t step;
  std::size_t capacity = 64 * 1024;
  std::deque<std::byte> bytes;
  bool ended = false;
  Event readable;
  Event writable;
};

/// A stream of two wires, in virtual time.
class MemoryStream {
 public:
  MemoryStream(std::shared_ptr<Wire> in, std::shared_ptr<Wire> out)
      : in_(std::move(in)), out_(std::move(out)) {}

  Task<std::size_t> read(std::span<std::byte> into) { return read_from(in_, into); }
  Task<std::size_t> write(std::span<const std::byte> from) { return write_to(out_, from); }
  Task<> close() { return end(out_); }

 private:
  static Task<std::size_t> read_from(std::shared_ptr<Wire> wire, std::span<std::byte> into) {
    while (wire->bytes.empty() && !wire->ended) {
      wire->readable.reset();
      co_await wire->readable.wait();
    }
    const std::size_t count = std::min({into.size(), wire->bytes.size(), wire->step});
    std::copy_n(wire->bytes.begin(), count, into.begin());
    wire->bytes.erase(wire->bytes.begin(), wire->bytes.begin() + static_cast<std::ptrdiff_t>(count));
    wire->writable.set();
    co_return count;
  }
  static Task<std::size_t> write_to(std::shared_ptr<Wire> wire, std::span<const std::byte> from) {
    while (wire->bytes.size() >= wire->capacity) {
      wire->writable.reset();
      co_await wire->writable.wait();
    }
    const std::size_t count = std::min({from.size(), wire->capacity - wire->bytes.size(), wire->step});
    wire->bytes.insert(wire->bytes.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    wire->readable.set();
    co_return count;
  }
  static Task<> end(std::shared_ptr<Wire> wire) {
    wire->ended = true;
    wire->readable.set();
    co_return;
  }

  std::shared_ptr<Wire> in_;
  std::shared_ptr<Wire> out_;
};

}  // namespace bide::test
