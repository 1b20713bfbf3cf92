#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/driver.hpp>
#include <bide/executor/operation.hpp>

namespace bide::test::uring {

/// A stream's receive that repeats: copies out what comes, gives the buffer back, and arms again when it ended.
class SharedStream final : public Operation {
 public:
  SharedStream(Driver& driver, int from) : Operation(Kind::receive), driver_(driver) {
    descriptor = from;
    repeats = takes_buffer = true;
  }
  void completed() noexcept override {
    if (result > 0) {
      const auto* const bytes = reinterpret_cast<const char*>(driver_.buffer(buffer).data());
      text.append(bytes, static_cast<std::size_t>(result));
      held.push_back(buffer);
    }
    if (more) return;
    if (result > 0) return driver_.start(*this);
    last = result;
    ended = true;
  }
  void give_back() {
    for (const std::uint16_t number : std::exchange(held, {})) driver_.give_back(number);
  }
  std::string text{};
  std::vector<std::uint16_t> held{};
  bool ended = false;
  std::int64_t last = 1;

 private:
  Driver& driver_;
};

}  // namespace bide::test::uring
