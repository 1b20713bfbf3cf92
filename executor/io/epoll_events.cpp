#include <bide/executor/io/epoll_driver.hpp>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>

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

}  // namespace

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
  if (all) advance_each(without_buffer_, Direction::reading);
  while (!without_buffer_.empty() && buffers_.any_free()) advance(without_buffer_.pop(), Direction::reading);
  if (!to_try_later_.empty()) advance_each(to_try_later_, Direction::writing);
}

void EpollDriver::advance_each(WatchedList& list, Direction direction) noexcept {
  WatchedList now;
  std::swap(now, list);
  while (!now.empty()) advance(now.pop(), direction);
}

// Attempts the operations of one queue, in order, until one has to wait.
void EpollDriver::advance(WatchedDescriptor& watched, Direction direction) noexcept {
  OperationList& queue = watched.queue(direction);
  while (!queue.empty() && (watched.on_pool & WatchedDescriptor::bit(direction)) == 0) {
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
      watched.on_pool = static_cast<std::uint8_t>(watched.on_pool | WatchedDescriptor::bit(direction));
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

}  // namespace bide
