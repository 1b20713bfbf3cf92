#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <bide/executor/driver.hpp>
#include <bide/executor/operation.hpp>

namespace bide::test {

/// How a FaultyDriver disturbs what goes through it, as a kernel may.
enum class Fault : std::uint8_t {
  none,
  delayed,      // each result is told one look later
  shortened,    // every second read, write, receive and send gets one byte
  interrupted,  // every third operation ends with EINTR, and nothing has happened
  tried_again,  // every third one on a descriptor, with EAGAIN
};
inline constexpr Fault faults[] = {Fault::none, Fault::delayed, Fault::shortened, Fault::interrupted,
                                   Fault::tried_again};
const char* name_of(Fault fault);

/// A driver around another that makes rare results frequent.
class FaultyDriver final : public Driver {
 public:
  FaultyDriver(std::unique_ptr<Driver> inner, Fault fault);
  ~FaultyDriver() override;

  void start(Operation& operation) noexcept override;
  void cancel(Operation& operation) noexcept override;
  void collect() noexcept override;
  void collect_before_wait() noexcept override;
  void wait(Duration longest) noexcept override;
  void closing(int descriptor) noexcept override { inner_->closing(descriptor); }
  std::span<std::byte> buffer(std::uint16_t number) noexcept override { return inner_->buffer(number); }
  void give_back(std::uint16_t buffer) noexcept override { inner_->give_back(buffer); }
  bool buffers_scarce() const noexcept override { return inner_->buffers_scarce(); }
  std::string_view name() const override { return inner_->name(); }
  DriverStatistics statistics() const override { return inner_->statistics(); }

 private:
  struct StandIn;  // what the inner driver gets in an operation's place
  struct Held {
    Operation* operation;
    std::int64_t result;
    bool more;
    std::uint16_t buffer;
  };

  bool fails_now(const Operation& operation, std::int64_t& error);
  void ended(StandIn& stand_in) noexcept;
  void tell_held() noexcept;
  static void tell(const Held& held) noexcept;

  std::unique_ptr<Driver> inner_;
  Fault fault_;
  std::size_t count_ = 0;
  std::deque<Held> held_;
  std::vector<std::unique_ptr<StandIn>> made_;
  std::vector<StandIn*> free_;
};

}  // namespace bide::test
