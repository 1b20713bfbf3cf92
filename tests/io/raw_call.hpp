#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/operation.hpp>

namespace bide::test {

/// What an Operation is asked to do. Trivially destructible, so that it may stand in an awaited expression.
struct Request {
  Operation::Kind kind = Operation::Kind::call;
  int descriptor = -1;
  const void* memory = nullptr;
  std::size_t length = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = Operation::current_offset;
  std::uint32_t permissions = 0;
  std::uint64_t size = 0;
  const void* more_memory = nullptr;
  bool takes_buffer = false;
};

inline void fill(Operation& operation, const Request& request) {
  operation.descriptor = request.descriptor;
  operation.memory = const_cast<void*>(request.memory);
  operation.more_memory = const_cast<void*>(request.more_memory);
  operation.length = static_cast<std::uint32_t>(request.length);
  operation.flags = request.flags;
  operation.offset = request.offset;
  operation.permissions = request.permissions;
  operation.size = request.size;
  operation.takes_buffer = request.takes_buffer;
}

/// `co_await RawCall({...})`: one operation on the executor's driver, without an object around it. Returns: its result.
class [[nodiscard]] RawCall final : public OperationWait {
 public:
  explicit RawCall(const Request& request, std::source_location where = std::source_location::current())
      : OperationWait(request.kind, where) {
    fill(*this, request);
  }
  bool await_ready() { return enter(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin(frame.promise(), driver_of(Executor::current()));
  }
  std::int64_t await_resume() { return end(); }
  /// Of a receive with takes_buffer.
  std::uint16_t taken() const { return buffer; }
  std::string describe() const override { return "a raw call"; }
};

inline Request receiving(int descriptor, std::span<char> memory) {
  return {.kind = Operation::Kind::receive,
          .descriptor = descriptor,
          .memory = memory.data(),
          .length = memory.size()};
}
inline Request sending(int descriptor, std::string_view text) {
  return {
      .kind = Operation::Kind::send, .descriptor = descriptor, .memory = text.data(), .length = text.size()};
}
inline Request reading(int descriptor, std::span<char> memory,
                       std::uint64_t offset = Operation::current_offset) {
  return {.kind = Operation::Kind::read,
          .descriptor = descriptor,
          .memory = memory.data(),
          .length = memory.size(),
          .offset = offset};
}
inline Request writing(int descriptor, std::string_view text,
                       std::uint64_t offset = Operation::current_offset) {
  return {.kind = Operation::Kind::write,
          .descriptor = descriptor,
          .memory = text.data(),
          .length = text.size(),
          .offset = offset};
}
inline Request polling(int descriptor, std::uint32_t events) {
  return {.kind = Operation::Kind::poll, .descriptor = descriptor, .flags = events};
}

/// Two descriptors, closed at the end unless given up: those of a socket pair, or the two ends of a pipe (0 reads).
class Ends {
 public:
  static Ends sockets(int type = SOCK_STREAM) {
    Ends ends;
    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.numbers) != 0) std::abort();
    return ends;
  }
  static Ends pipe() {
    Ends ends;
    if (::pipe2(ends.numbers, O_CLOEXEC) != 0) std::abort();
    return ends;
  }
  Ends(Ends&& other) noexcept
      : numbers{std::exchange(other.numbers[0], -1), std::exchange(other.numbers[1], -1)} {}
  Ends& operator=(Ends&&) = delete;
  ~Ends() {
    close(0);
    close(1);
  }
  int operator[](int index) const { return numbers[index]; }
  void close(int index) {
    if (numbers[index] >= 0) ::close(std::exchange(numbers[index], -1));
  }

 private:
  Ends() = default;
  int numbers[2] = {-1, -1};
};

}  // namespace bide::test
