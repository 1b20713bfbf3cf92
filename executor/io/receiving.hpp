#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <bide/executor/io/arrival_queue.hpp>
#include <bide/executor/io/descriptor.hpp>
#include <bide/executor/io/received.hpp>

namespace bide {

/// The receive of a stream that goes on and on, into buffers of the driver's, and what has come that nobody took yet.
///
/// Invariants: bytes are taken in the order in which they came, then the end of the stream or the error. With
/// `most_queued` buffers waiting it stops, and begins again when somebody waits. Where buffers are scarce, what waits here
/// is moved out of them: streams that nobody reads do not take the buffers of all others. Where there is no memory to keep
/// what came, the stream is broken there: ENOMEM behind the bytes before, at each take.
class Receiving final : public RepeatingOperation {
 public:
  static constexpr std::size_t most_queued = 8;

  /// Who waits for what comes next.
  class Waiter {
   public:
    virtual void data_came() noexcept = 0;

   protected:
    ~Waiter() = default;
  };

  explicit Receiving(Descriptor& on);
  ~Receiving() final = default;

  /// Something can be taken: bytes, the end, or an error.
  bool has_next() const { return !queue_.empty() || end_.has_value(); }
  /// Bytes wait, or may come without a read: a read has to get them from here.
  bool owns_next() const { return has_next() || under_way(); }

  /// Requires: has_next(). Returns: how many bytes, 0 at the end of the stream, or a negative errno, which is told once.
  std::int64_t take(Received& into);
  std::int64_t take(std::span<std::byte> into);

  /// Calls `data_came` once something can be taken. Requires: nothing can; nobody else waits.
  void wait(Waiter& waiter, Executor& executor);
  /// Takes it back, in two steps: see Wait::ask_to_end.
  void stop_counting() noexcept { work_.end(); }
  void forget_waiter() noexcept { waiter_ = nullptr; }

 private:
  void arrived() noexcept override;
  void drop() noexcept override;
  bool awaited() const noexcept override { return waiter_ != nullptr; }
  void keep(Received part) noexcept;
  Received leased(std::size_t bytes) const;
  void make_room() noexcept;
  std::int64_t take_end();

  ArrivalQueue<Received> queue_{2 * most_queued};
  std::optional<std::int64_t> end_;  // 0, or a negative errno
  bool broken_ = false;              // bytes were lost: `end_` is for good
  Waiter* waiter_ = nullptr;
  Executor* executor_ = nullptr;  // of the waiter
};

}  // namespace bide
