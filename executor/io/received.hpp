#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <bide/executor/driver.hpp>

namespace bide {

/// Bytes that came, in a buffer of the driver's: a lease, which gives the buffer back when it goes.
///
/// All receiving streams share the buffers (DriverOptions::buffer_count): while none is left, none of them receives. So
/// keep it no longer than it takes to look at the bytes, and not across awaits that may last.
///
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
        buffer_(other.buffer_) {}
  Received& operator=(Received&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    driver_ = std::move(other.driver_);
    data_ = std::exchange(other.data_, std::span<const std::byte>());
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
    data_ = {};
  }

 private:
  friend class Receiving;

  Driver::Life driver_;
  std::span<const std::byte> data_;
  std::uint16_t buffer_ = 0;
};

}  // namespace bide
