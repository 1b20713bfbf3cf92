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

// An operation on a descriptor joins the queue of its direction, and the first of each queue is attempted whenever that
// may have come true: at once if it is alone, with an event of the descriptor, with a buffer that is given back. An
// attempt that finds nothing comes before the descriptor is watched, or while it is: so no event is lost.

namespace bide {

namespace {

using Kind = Operation::Kind;
using Direction = WatchedDescriptor::Direction;

constexpr std::uint32_t reading_events = EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t writing_events = EPOLLOUT | EPOLLHUP | EPOLLERR;
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

std::uint8_t bit(Direction direction) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(direction));
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
  calls_.finish();
  while (!ended_.empty()) tell_ended();
}

void EpollDriver::start(Operation& operation) noexcept {
  ++counts_.started;
  operation.steps = 0;
  if (mark_.in_child()) return tell(operation, -ForkMark::error);
  if (refusing_) return tell_later(operation, -ECANCELED);
  if (operation.kind == Kind::close) return start_close(operation);
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
  if (const int error = calls_.start(operation); error != 0) call_ended_with(operation, -error);
}

void EpollDriver::call_ended(Operation& operation) noexcept { call_ended_with(operation, operation.result); }

void EpollDriver::call_ended_with(Operation& operation, std::int64_t result) noexcept {
  const std::optional<Direction> direction = direction_of(operation);
  WatchedDescriptor* const watched =
      direction && !at_an_offset(operation) ? set_.known(operation.descriptor) : nullptr;
  if (watched != nullptr) watched->on_pool = static_cast<std::uint8_t>(watched->on_pool & ~bit(*direction));
  tell(operation, result);
  if (watched != nullptr) advance(*watched, *direction);
}

// Attempts the operations of one queue, in order, until one has to wait.
void EpollDriver::advance(WatchedDescriptor& watched, Direction direction) noexcept {
  OperationList& queue = watched.queue(direction);
  while (!queue.empty() && (watched.on_pool & bit(direction)) == 0) {
    Operation& first = *queue.first();
    std::int64_t result = attempt_here(first, watched);
    if (result == Attempt::later) return to_try_later_.push(watched);
    if (result == Attempt::no_buffer) return without_buffer_.push(watched);
    if (result == Attempt::not_now) {
      const int error = set_.watch(watched);
      if (error == 0) return;
      result = error == EPERM ? Attempt::blocks : -error;
    }
    dequeue(first, queue);
    if (result == Attempt::blocks) {
      watched.on_pool = static_cast<std::uint8_t>(watched.on_pool | bit(direction));
      start_on_pool(first);
    } else {
      tell(first, result);
    }
  }
}

std::int64_t EpollDriver::attempt_here(Operation& operation, WatchedDescriptor& watched) noexcept {
  if (operation.kind == Kind::receive && operation.takes_buffer) return receive_in_buffer(operation);
  if (operation.kind == Kind::accept && !watched.non_blocking) {
    const int flags = ::fcntl(watched.descriptor, F_GETFL);
    if (flags < 0 || ::fcntl(watched.descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return -errno;
    watched.non_blocking = true;
  }
  return attempt(operation);
}

std::int64_t EpollDriver::receive_in_buffer(Operation& operation) noexcept {
  if (!buffers_.make()) return -ENOMEM;
  const auto flags = static_cast<int>(operation.flags) | MSG_DONTWAIT;
  const std::optional<std::uint16_t> number = buffers_.take();
  if (!number) {  // is it needed?
    char first = 0;
    const auto found = ::recv(operation.descriptor, &first, 1, flags | MSG_PEEK);
    if (found <= 0) return found < 0 ? -errno : 0;
    if (operation.steps++ == 0) ++counts_.out_of_buffers;
    return Attempt::no_buffer;
  }
  const std::span<std::byte> memory = buffers_.memory(*number);
  const std::int64_t result = ::recv(operation.descriptor, memory.data(), memory.size(), flags);
  const int error = errno;
  operation.buffer = *number;
  if (result <= 0) buffers_.give_back(*number);
  return result < 0 ? -error : result;
}

void EpollDriver::start_poll(Operation& operation, WatchedDescriptor& watched) noexcept {
  const std::int64_t result = attempt(operation);
  if (result != Attempt::not_now) return tell(operation, result);
  OperationList& polls = watched.queue(Direction::polling);
  enqueue(operation, polls);
  const int error = watch_polls(watched);
  if (error == 0) return;
  dequeue(operation, polls);
  tell(operation, error == EPERM ? std::int64_t{operation.flags} : -error);
}

int EpollDriver::watch_polls(WatchedDescriptor& watched) noexcept {
  std::uint32_t wanted = 0;
  for (Operation* poll = watched.queue(Direction::polling).first(); poll != nullptr; poll = poll->next)
    wanted |= poll->flags;
  return set_.watch_once(watched, wanted);
}

// What an edge-triggered event says may have been used up by a read since.
void EpollDriver::advance_polls(WatchedDescriptor& watched, std::uint32_t events) noexcept {
  OperationList& polls = watched.queue(Direction::polling);
  if (polls.empty()) return;
  const bool certain = watched.mode == WatchedDescriptor::Mode::one_shot;
  OperationList true_now;
  for (Operation* poll = polls.first(); poll != nullptr;) {
    Operation& next = *std::exchange(poll, poll->next);
    const std::int64_t result =
        certain ? std::int64_t{events & (next.flags | EPOLLERR | EPOLLHUP)} : attempt(next);
    if (result == 0 || result == Attempt::not_now) continue;
    move_to_told(next, result, polls, true_now);
  }
  if (!polls.empty()) {
    if (const int error = watch_polls(watched); error != 0) {
      while (!polls.empty()) move_to_told(*polls.first(), -error, polls, true_now);
    }
  }
  while (!true_now.empty()) {
    Operation& poll = true_now.pop();
    tell(poll, poll.result);
  }
}

void EpollDriver::move_to_told(Operation& operation, std::int64_t result, OperationList& from,
                               OperationList& to) noexcept {
  dequeue(operation, from);
  operation.result = result;
  operation.driver_word = static_cast<std::uint32_t>(Place::ended);
  to.push(operation);
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
  require(watched->idle(), "a descriptor is closed while an operation on it is in flight");
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

void EpollDriver::see(int found) noexcept {
  if (found == -EINTR) ++counts_.interrupted;
  event_count_ = std::max(found, 0);
}

void EpollDriver::take_events() noexcept {
  const int count = std::exchange(event_count_, 0);
  for (int index = 0; index < count; ++index) {
    const EpollSet::Event event = set_.event(index);
    if (event.is_wake) ++counts_.wakes;
    if (event.watched == nullptr) continue;
    if ((event.events & reading_events) != 0) advance(*event.watched, Direction::reading);
    if ((event.events & writing_events) != 0) advance(*event.watched, Direction::writing);
    advance_polls(*event.watched, event.events);
  }
}

void EpollDriver::try_again() noexcept {
  const bool all = std::exchange(recheck_, false);
  if (!without_buffer_.empty() && (all || buffers_.any_free()))
    advance_each(without_buffer_, Direction::reading);
  if (!to_try_later_.empty()) advance_each(to_try_later_, Direction::writing);
}

void EpollDriver::advance_each(WatchedList& list, Direction direction) noexcept {
  WatchedList now;
  std::swap(now, list);
  while (!now.empty()) advance(now.pop(), direction);
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
