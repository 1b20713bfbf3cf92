#include <bide/executor/io/epoll_set.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <new>
#include <system_error>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bide {

static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLPRI == POLLPRI && EPOLLERR == POLLERR &&
              EPOLLHUP == POLLHUP && EPOLLRDHUP == POLLRDHUP);

namespace {

constexpr std::uint32_t all_events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI;
constexpr std::uint64_t wake_mark = UINT64_MAX;

}  // namespace

void WatchedList::push(WatchedDescriptor& watched) noexcept {
  if (watched.listed) return;
  watched.listed = true;
  watched.next_waiting = nullptr;
  (last_ != nullptr ? last_->next_waiting : first_) = &watched;
  last_ = &watched;
}

WatchedDescriptor& WatchedList::pop() noexcept {
  WatchedDescriptor& watched = *first_;
  first_ = watched.next_waiting;
  if (first_ == nullptr) last_ = nullptr;
  watched.listed = false;
  return watched;
}

EpollSet::EpollSet(int wake) : descriptor_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  epoll_event event{EPOLLIN | EPOLLET, {}};
  event.data.u64 = wake_mark;
  if (::epoll_ctl(descriptor_, EPOLL_CTL_ADD, wake, &event) != 0) {
    const int error = errno;
    ::close(descriptor_);
    throw std::system_error(error, std::generic_category(), "epoll_ctl of the wake descriptor");
  }
}

EpollSet::~EpollSet() { ::close(descriptor_); }

WatchedDescriptor* EpollSet::known(int descriptor) noexcept {
  const auto page = static_cast<std::size_t>(descriptor) / page_size;
  if (descriptor < 0 || page >= pages_.size() || pages_[page] == nullptr) return nullptr;
  return &(*pages_[page])[static_cast<std::size_t>(descriptor) % page_size];
}

WatchedDescriptor* EpollSet::record(int descriptor) noexcept {
  if (WatchedDescriptor* const watched = known(descriptor); watched != nullptr) return watched;
  const auto number = static_cast<std::size_t>(descriptor) / page_size;
  try {
    if (number >= pages_.size()) pages_.resize(number + 1);
    pages_[number] = std::make_unique<Page>();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  int first = static_cast<int>(number * page_size);
  for (WatchedDescriptor& watched : *pages_[number]) watched.descriptor = first++;
  return known(descriptor);
}

int EpollSet::control(int what, WatchedDescriptor& watched, std::uint32_t events) noexcept {
  epoll_event event{events, {}};
  event.data.u64 = std::uint64_t{watched.generation} << 32U | static_cast<std::uint32_t>(watched.descriptor);
  return ::epoll_ctl(descriptor_, what, watched.descriptor, &event) == 0 ? 0 : errno;
}

int EpollSet::watch(WatchedDescriptor& watched) noexcept {
  if (watched.mode == WatchedDescriptor::Mode::edge) return 0;
  int error = control(EPOLL_CTL_ADD, watched, all_events | EPOLLET);
  if (error == EEXIST) error = control(EPOLL_CTL_MOD, watched, all_events | EPOLLET);
  if (error == 0) watched.mode = WatchedDescriptor::Mode::edge;
  return error;
}

int EpollSet::watch_once(WatchedDescriptor& watched, std::uint32_t events) noexcept {
  if (watched.mode == WatchedDescriptor::Mode::edge) return 0;
  const bool was_there = watched.mode == WatchedDescriptor::Mode::one_shot;
  int error = control(was_there ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, watched, events | EPOLLONESHOT);
  if (error == ENOENT) error = control(EPOLL_CTL_ADD, watched, events | EPOLLONESHOT);
  if (error == EEXIST) error = control(EPOLL_CTL_MOD, watched, events | EPOLLONESHOT);
  if (error == 0) watched.mode = WatchedDescriptor::Mode::one_shot;
  return error;
}

void EpollSet::forget(WatchedDescriptor& watched) noexcept {
  if (watched.mode == WatchedDescriptor::Mode::absent) return;
  watched.mode = WatchedDescriptor::Mode::absent;
  static_cast<void>(control(EPOLL_CTL_DEL, watched, 0));
}

int EpollSet::wait(Duration longest) noexcept {
  constexpr auto most = static_cast<int>(std::tuple_size_v<decltype(events_)>);
  // A kernel refuses seconds that overflow its own clock; a day is as good as for ever, the loop looks again.
  constexpr std::int64_t day = 86'400'000'000'000;
  const std::int64_t nanoseconds = std::clamp<std::int64_t>(longest.count(), 0, day);
  if (!nanoseconds_refused_) {
    const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    const long found = ::syscall(SYS_epoll_pwait2, descriptor_, events_.data(), most, &timeout, nullptr, 0);
    if (found >= 0) return static_cast<int>(found);
    if (errno == EINTR) return -EINTR;
    nanoseconds_refused_ = true;  // ENOSYS, or EPERM of a filter
  }
  const auto milliseconds = static_cast<int>((nanoseconds + 999'999) / 1'000'000);
  const int found = ::epoll_wait(descriptor_, events_.data(), most, milliseconds);
  return found >= 0 ? found : -errno;
}

EpollSet::Event EpollSet::event(int index) noexcept {
  const epoll_event& event = events_[static_cast<std::size_t>(index)];
  if (event.data.u64 == wake_mark) return {nullptr, true, 0};
  WatchedDescriptor* const watched = known(static_cast<int>(event.data.u64 & 0xFFFFFFFFU));
  const bool current = watched != nullptr && watched->generation == event.data.u64 >> 32U;
  return {current ? watched : nullptr, false, event.events};
}

}  // namespace bide
