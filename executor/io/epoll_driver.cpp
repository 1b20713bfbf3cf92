#include <bide/executor/io/epoll_driver.hpp>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/attempt.hpp>

// Who has an operation, and how it starts and ends. executor/io/epoll_events.cpp: how it goes on.

namespace bide {

namespace {

using Kind = Operation::Kind;
using Direction = WatchedDescriptor::Direction;

/// How long a connect or send waits that nothing will wake: to a Unix socket that is busy.
constexpr Duration pause = std::chrono::milliseconds(5);

/// Nothing: it is not about a descriptor that could be waited for.
std::optional<Direction> direction_of(const Operation& operation) {
  switch (operation.kind) {
    case Kind::accept:
    case Kind::receive:
    case Kind::receive_message:
    case Kind::read:
    case Kind::read_vector:
      return Direction::reading;
    case Kind::connect:
    case Kind::send:
    case Kind::send_message:
    case Kind::write:
    case Kind::write_vector:
      return Direction::writing;
    case Kind::poll:
      return Direction::polling;
    default:
      return std::nullopt;
  }
}

bool is_transfer(const Operation& operation) {
  return operation.kind == Kind::read || operation.kind == Kind::read_vector ||
         operation.kind == Kind::write || operation.kind == Kind::write_vector;
}

bool at_an_offset(const Operation& operation) {
  return is_transfer(operation) && operation.offset != Operation::current_offset;
}

bool is_file(int descriptor) {
  struct stat about {};
  return ::fstat(descriptor, &about) == 0 && !S_ISSOCK(about.st_mode) && !S_ISFIFO(about.st_mode);
}

}  // namespace

EpollDriver::EpollDriver(Executor& executor, const DriverOptions& options)
    : set_(executor.wake_descriptor()),
      calls_(executor, *this),
      buffers_(options.buffer_count, options.buffer_bytes) {}

EpollDriver::~EpollDriver() {
  refusing_ = true;
  end_all(-ECANCELED);
  do {  // what is told may start a close, and other things in vain
    tell_ended();
    calls_.finish();
  } while (!ended_.empty());
}

void EpollDriver::start(Operation& operation) noexcept {
  ++counts_.started;
  operation.steps = 0;
  if (operation.kind == Kind::close) return start_close(operation);
  if (mark_.in_child()) return tell(operation, -ForkMark::error);
  if (refusing_) return tell_later(operation, -ECANCELED);
  const std::optional<Direction> direction = direction_of(operation);
  if (!direction) return start_on_pool(operation);
  if (at_an_offset(operation)) {
    const std::int64_t result = attempt(operation);
    return result == Attempt::blocks ? start_on_pool(operation) : tell(operation, result);
  }
  if (operation.descriptor < 0) return tell(operation, -EBADF);
  WatchedDescriptor* const watched = set_.record(operation.descriptor);
  if (watched == nullptr) return tell(operation, -ENOMEM);
  if (*direction == Direction::polling) return start_poll(operation, *watched);
  enqueue(operation, watched->queue(*direction));
  if (operation.previous == nullptr) advance(*watched, *direction);
}

void EpollDriver::start_close(Operation& operation) noexcept {
  const bool may_block = is_file(operation.descriptor);
  closing(operation.descriptor);
  if (may_block) return start_on_pool(operation);
  tell(operation, perform_blocking(operation));
}

void EpollDriver::start_on_pool(Operation& operation) noexcept {
  operation.driver_word = static_cast<std::uint32_t>(Place::pool);
  calls_.start(operation);
}

void EpollDriver::call_ended(Operation& operation) noexcept {
  const std::optional<Direction> direction = direction_of(operation);
  WatchedDescriptor* const watched =
      direction && !at_an_offset(operation) ? set_.known(operation.descriptor) : nullptr;
  if (watched != nullptr)
    watched->on_pool = static_cast<std::uint8_t>(watched->on_pool & ~WatchedDescriptor::bit(*direction));
  tell(operation, operation.result);
  if (watched != nullptr) advance(*watched, *direction);
}

void EpollDriver::cancel(Operation& operation) noexcept {
  ++counts_.cancels;
  switch (static_cast<Place>(operation.driver_word)) {
    case Place::queue: {
      const Direction direction = *direction_of(operation);
      WatchedDescriptor& watched = *set_.known(operation.descriptor);
      dequeue(operation, watched.queue(direction));
      if (watched.mode == WatchedDescriptor::Mode::one_shot && watched.queue(direction).empty())
        forget(watched);
      if (watched.listed) recheck_ = true;  // the one behind it may want something else
      return tell_later(operation, -ECANCELED);
    }
    case Place::pool:
      return calls_.cancel(operation);
    case Place::ended:
    case Place::nobody:
      return;
  }
}

void EpollDriver::closing(int descriptor) noexcept {
  WatchedDescriptor* const watched = set_.known(descriptor);
  if (watched == nullptr) return;
  if (!watched->idle()) return;  // one that is not owned, and wrapped twice
  forget(*watched);
  ++watched->generation;
  watched->non_blocking = false;
}

void EpollDriver::forget(WatchedDescriptor& watched) noexcept {
  if (mark_.in_child()) {
    watched.mode = WatchedDescriptor::Mode::absent;
  } else {
    set_.forget(watched);
  }
}

void EpollDriver::give_back(std::uint16_t buffer) noexcept { buffers_.give_back(buffer); }

void EpollDriver::collect() noexcept {
  if (event_count_ == 0 && queued_ > 0 && !mark_.in_child()) {
    ++counts_.enters;
    see(set_.wait(Duration::zero()));
  }
  collect_before_wait();
}

// Without a look at the set, which the wait takes.
void EpollDriver::collect_before_wait() noexcept {
  if (mark_.in_child()) end_all(-ForkMark::error);
  tell_ended();
  try_again();
  take_events();
}

void EpollDriver::wait(Duration longest) noexcept {
  const bool buffer_awaited = !without_buffer_.empty() && buffers_.any_free();
  if (event_count_ > 0 || !ended_.empty() || recheck_ || buffer_awaited) return;
  if (!to_try_later_.empty()) longest = std::min(longest, pause);
  if (mark_.in_child()) return sleep(longest);
  ++counts_.enters;
  if (longest > Duration::zero()) ++counts_.waits;
  see(set_.wait(longest));
}

// The parent's set is not the child's to look at.
void EpollDriver::sleep(Duration longest) noexcept {
  const std::int64_t nanoseconds = std::clamp<std::int64_t>(longest.count(), 0, 1'000'000'000);
  const timespec time{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  ::nanosleep(&time, nullptr);
}

void EpollDriver::tell(Operation& operation, std::int64_t result) noexcept {
  if (telling_) return tell_later(operation, result);
  ++counts_.completed;
  operation.driver_word = static_cast<std::uint32_t>(Place::nobody);
  operation.more = false;
  operation.result = result;
  telling_ = true;
  operation.completed();
  telling_ = false;
}

void EpollDriver::tell_later(Operation& operation, std::int64_t result) noexcept {
  operation.driver_word = static_cast<std::uint32_t>(Place::ended);
  operation.result = result;
  ended_.push(operation);
}

// What these start, and what ends of it at once, is for the next time.
void EpollDriver::tell_ended() noexcept {
  OperationList now;
  std::swap(now, ended_);
  while (!now.empty()) {
    Operation& operation = now.pop();
    tell(operation, operation.result);
  }
}

void EpollDriver::end_all(std::int64_t result) noexcept {
  if (queued_ == 0) return;
  set_.for_each([this, result](WatchedDescriptor& watched) {
    for (OperationList& queue : watched.queues) {
      while (!queue.empty()) {
        Operation& operation = *queue.first();
        dequeue(operation, queue);
        tell_later(operation, result);
      }
    }
  });
}

void EpollDriver::enqueue(Operation& operation, OperationList& queue) noexcept {
  operation.driver_word = static_cast<std::uint32_t>(Place::queue);
  queue.push(operation);
  ++queued_;
}

void EpollDriver::dequeue(Operation& operation, OperationList& queue) noexcept {
  queue.remove(operation);
  --queued_;
}

}  // namespace bide
