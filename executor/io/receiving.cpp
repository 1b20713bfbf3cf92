#include <bide/executor/io/receiving.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bide {

Receiving::Receiving(Descriptor& on) : RepeatingOperation(Kind::receive, on) {
  takes_buffer = true;
  queue_.reserve(2 * most_queued);
}

std::int64_t Receiving::take(Received& into) {
  if (first_ == queue_.size()) return take_end();
  into = std::move(queue_[first_++]);
  if (first_ == queue_.size()) {
    queue_.clear();
    first_ = 0;
  }
  return static_cast<std::int64_t>(into.size());
}

std::int64_t Receiving::take(std::span<std::byte> into) {
  if (first_ == queue_.size()) return take_end();
  Received& front = queue_[first_];
  const std::size_t bytes = std::min(into.size(), front.size());
  std::memcpy(into.data(), front.data().data(), bytes);
  front.data_ = front.data_.subspan(bytes);
  if (front.empty()) {
    Received used;
    static_cast<void>(take(used));
  }
  return static_cast<std::int64_t>(bytes);
}

// The end of a stream stays; an error is told once, and what comes after it is the kernel's to say.
std::int64_t Receiving::take_end() {
  const std::int64_t end = *end_;
  if (end != 0) end_.reset();
  return end;
}

void Receiving::wait(Waiter& waiter, Executor& executor) {
  require(waiter_ == nullptr, "two threads receive from one stream");
  static_cast<void>(on().driver(executor));  // throws before anything has changed
  waiter_ = &waiter;
  executor_ = &executor;
  work_.begin(executor);
  if (!under_way()) arm(executor);
}

Received Receiving::leased(std::size_t bytes) const {
  return Received(on().life(), buffer, (*on().life())->buffer(buffer).first(bytes));
}

// Results may still come after a stop: they were on their way.
void Receiving::arrived() noexcept {
  if (result > 0) {
    queue_.push_back(leased(static_cast<std::size_t>(result)));
  } else if (result == 0) {
    end_ = 0;
  } else if (!on().open() || (result != -ECANCELED && result != -EINTR && result != -EAGAIN)) {
    end_ = result;
  }
  if (waiter_ != nullptr && has_next()) {
    work_.end();
    std::exchange(waiter_, nullptr)->data_came();
  }
  if (waiter_ != nullptr && !under_way()) arm(*executor_);
  make_room();
  if (queue_.size() - first_ >= most_queued) stop();
}

// Nobody says when what has just come will be taken.
void Receiving::make_room() noexcept {
  if (first_ == queue_.size() || queue_.back().driver_ == nullptr) return;
  if ((*on().life())->buffers_scarce()) queue_.back().make_room();
}

void Receiving::drop() noexcept {
  if (result > 0) static_cast<void>(Received(kept().life(), buffer, {}));
}

}  // namespace bide
