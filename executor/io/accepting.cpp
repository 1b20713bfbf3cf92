#include <bide/executor/io/accepting.hpp>

#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <new>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/stream_socket.hpp>

namespace bide {

namespace {

bool means_ran_out(std::int64_t error) {
  return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM;
}

// The connection was gone, or came with an error of its network (accept(2)): the next may be well.
bool only_this_connection(std::int64_t error) {
  switch (-error) {
    case ECONNABORTED:
    case EPROTO:
    case EPERM:  // a firewall
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EAGAIN:
    case EINTR:
      return true;
    default:
      return false;
  }
}

}  // namespace

void print_accept_exhausted(std::error_code error, const Address& listener) {
  constexpr auto pause_ms = static_cast<int>(Accepting::pause / std::chrono::milliseconds(1));
  std::fprintf(stderr, "bide: accept on %s: %s: trying again every %d ms\n", listener.to_string().c_str(),
               error.message().c_str(), pause_ms);
}

Accepting::Accepting(Descriptor& on, const Address& address, AcceptExhausted exhausted)
    : RepeatingOperation(Kind::accept, on), address_(address), exhausted_(exhausted) {
  flags = SOCK_CLOEXEC;
}

Accepting::~Accepting() {
  while (!queue_.empty()) ::close(queue_.pop());
}

void Accepting::wait(AcceptWait& wait, Frame& frame) {
  Executor& executor = *running.executor;
  static_cast<void>(on().driver(executor));                  // throws before anything has changed
  if (executor_ != &executor) resumes_at_ = Instant::min();  // of another clock
  executor_ = &executor;
  wait.park_in(waiters_, frame);
  if (under_way() && !work_.begun()) work_.begin(executor);  // it went on while nobody waited
  go_on();
}

void Accepting::go_on() noexcept {
  if (going_on_) return;
  going_on_ = true;
  while (!waiters_.empty() && !under_way() && !armed() && !ending_) accept_or_pause();
  going_on_ = false;
}

// While it pauses nobody waits for the outside: virtual time may move.
void Accepting::accept_or_pause() noexcept {
  if (means_ == Means::exhausted && executor_->now() < resumes_at_) {
    work_.end();
    TimedCall::arm(*executor_, resumes_at_);
  } else {
    if (!work_.begun()) work_.begin(*executor_);
    RepeatingOperation::arm(*executor_);
  }
}

void Accepting::due() noexcept { go_on(); }

void Accepting::stop_counting() noexcept {
  ending_ = true;
  work_.end();
}

// A waiter has gone, served or not.
void Accepting::left() noexcept {
  ending_ = false;
  if (waiters_.empty()) {
    work_.end();
    disarm();
  } else if (under_way() && !work_.begun()) {
    work_.begin(*executor_);
  }
}

void Accepting::arrived() noexcept {
  if (result >= 0) {
    connected(static_cast<int>(result));
  } else if (means_ran_out(result)) {
    ran_out(result);
  } else if (only_this_connection(result) && !(going_on_ && result == -EPERM)) {  // at once: not a firewall
    ++statistics_.aborted;
  } else if (result != -ECANCELED || !on().open()) {
    failed(result);
  }
  if (!on().open() && !under_way()) failed(-ECANCELED);  // closed meanwhile: nothing more will tell them
  if (waiters_.empty()) work_.end();
  go_on();
  if (queued() >= most_queued) stop();
}

void Accepting::connected(int connection) noexcept {
  auto* const wait = static_cast<AcceptWait*>(waiters_.take_first());
  if (wait == nullptr) return keep(connection);
  ++statistics_.accepted;
  means_ = Means::there;
  wait->result_ = connection;
  wait->wake();
}

void Accepting::keep(int connection) noexcept {
  if (queue_.push(connection)) {
    ++statistics_.accepted;
    means_ = Means::there;
  } else {
    ::close(connection);
    ran_out(-ENOMEM);
  }
}

void Accepting::ran_out(std::int64_t error) noexcept {
  if (means_ == Means::there) {
    ++statistics_.exhausted;
    tell_exhausted(error);
  }
  means_ = Means::exhausted;
  ++statistics_.backed_off;
  resumes_at_ = add_saturating(executor_->now(), pause);
}

void Accepting::tell_exhausted(std::int64_t error) const noexcept {
  if (exhausted_ == nullptr) return;
  try {
    exhausted_({static_cast<int>(-error), std::system_category()}, address_);
  } catch (const std::bad_alloc&) {  // it is said next time
  }
}

// All that wait learn of it, or the next one that does.
void Accepting::failed(std::int64_t error) noexcept {
  if (waiters_.empty()) error_ = error;
  while (auto* const wait = static_cast<AcceptWait*>(waiters_.take_first())) {
    wait->result_ = error;
    wait->wake();
  }
}

// In a pause nothing is in flight whose end could tell them.
void Accepting::closing() noexcept {
  stop();
  if (under_way()) return;
  failed(-ECANCELED);
  left();
}

void Accepting::drop() noexcept {
  if (result >= 0) ::close(static_cast<int>(result));
}

// It was accepted for a thread that was destroyed before it ran.
AcceptWait::~AcceptWait() {
  if (result_ >= 0) ::close(static_cast<int>(result_));
}

bool AcceptWait::await_ready() {
  if (enter()) return true;
  if (!on_.open()) {
    result_ = -EBADF;
  } else if (accepting().queued() > 0) {
    result_ = accepting().queue_.pop();
  } else if (accepting().error_ != 0) {
    result_ = std::exchange(accepting().error_, 0);
  } else {
    return false;
  }
  return true;
}

bool AcceptWait::ask_to_end() noexcept {
  accepting().stop_counting();
  return false;
}

void AcceptWait::withdraw() noexcept {
  QueuedWait::withdraw();
  accepting().left();
}

std::string AcceptWait::describe() const { return socket_call("accept on", listener_); }

Descriptor AcceptWait::take_connection() {
  finish();
  if (result_ < 0) throw_io_error(result_, describe());
  return Descriptor(static_cast<int>(std::exchange(result_, -1)));
}

}  // namespace bide
