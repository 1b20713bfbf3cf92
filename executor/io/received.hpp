#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include <bide/executor/driver.hpp>

namespace bide {

/// Bytes that came, in a buffer of the driver's: a lease, which gives the buffer back when it goes.
///
/// All receiving streams share the buffers (DriverOptions::buffer_count): while none is left, none of them receives. So
/// keep it no longer than it takes to look at the bytes, and not across awaits that may last.
///
/// What a stream has read ahead is in memory of its own where buffers are scarce: streams that nobody reads do not take
/// those of all others.
/// Requires: data() is used while the executor lives.
class [[nodiscard]] Received {
 public:
  /// Empty, as at the end of a stream.
  Received() = default;
  Received(Driver::Life driver, std::uint16_t buffer, std::span<const std::byte> data) noexcept
      : driver_(std::move(driver)), data_(data), buffer_(buffer) {}
  Received(Received&& other) noexcept
      : driver_(std::move(other.driver_)),
        data_(std::exchange(other.data_, std::span<const std::byte>())),
        own_(std::move(other.own_)),
        buffer_(other.buffer_) {}
  Received& operator=(Received&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    driver_ = std::move(other.driver_);
    data_ = std::exchange(other.data_, std::span<const std::byte>());
    own_ = std::move(other.own_);
    buffer_ = other.buffer_;
    return *this;
  }
  ~Received() { give_back(); }

  std::span<const std::byte> data() const { return data_; }
  std::size_t size() const { return data_.size(); }
  /// The stream has ended.
  bool empty() const { return data_.empty(); }

  /// Before it goes.
  void give_back() noexcept {
    if (driver_ != nullptr && *driver_ != nullptr) (*driver_)->give_back(buffer_);
    driver_.reset();
    own_.reset();
    data_ = {};
  }

 private:
  friend class Receiving;

  // Moves the bytes to memory of their own; where there is none, they stay.
  void make_room() noexcept {
    std::unique_ptr<std::byte[]> own(new (std::nothrow) std::byte[data_.size()]);
    if (own == nullptr) return;
    std::memcpy(own.get(), data_.data(), data_.size());
    const std::size_t size = data_.size();
    give_back();
    own_ = std::move(own);
    data_ = {own_.get(), size};
  }

  Driver::Life driver_;
  std::span<const std::byte> data_;
  std::unique_ptr<std::byte[]> own_;  // in place of the driver's
  std::uint16_t buffer_ = 0;
};

}  // namespace bide
