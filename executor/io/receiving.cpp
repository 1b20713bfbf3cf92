#include <bide/executor/io/receiving.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bide {

Receiving::Receiving(Descriptor& on) : RepeatingOperation(Kind::receive, on) { takes_buffer = true; }

std::int64_t Receiving::take(Received& into) {
  if (queue_.empty()) return take_end();
  into = queue_.pop();
  return static_cast<std::int64_t>(into.size());
}

std::int64_t Receiving::take(std::span<std::byte> into) {
  if (queue_.empty()) return take_end();
  Received& front = queue_.front();
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
  if (end != 0 && !broken_) end_.reset();
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
    keep(leased(static_cast<std::size_t>(result)));
  } else if (broken_) {  // what ends behind lost bytes is no end of the stream
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
  if (broken_ || queue_.size() >= most_queued) stop();
}

void Receiving::keep(Received part) noexcept {
  if (!broken_ && queue_.push(std::move(part))) return;
  broken_ = true;
  end_ = -ENOMEM;
}

// Nobody says when what has just come will be taken.
void Receiving::make_room() noexcept {
  if (queue_.empty() || queue_.back().driver_ == nullptr) return;
  if ((*on().life())->buffers_scarce()) queue_.back().make_room();
}

void Receiving::drop() noexcept {
  if (result > 0) static_cast<void>(Received(kept().life(), buffer, {}));
}

}  // namespace bide
