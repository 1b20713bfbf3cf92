#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <bide/executor/sync/channel_buffer.hpp>
#include <bide/executor/wait_queue.hpp>

namespace bide {

/// Thrown by a send on a closed channel. The item is still where it was.
class ChannelClosed : public std::runtime_error {
 public:
  ChannelClosed() : std::runtime_error("a send on a closed channel") {}
};

/// What channels of all types share: who waits, and what they say in reports.
class ChannelBase {
 public:
  ChannelBase(const ChannelBase&) = delete;
  ChannelBase& operator=(const ChannelBase&) = delete;

  /// No send succeeds from now on; receives get what is buffered, then nullopt. Wakes all who wait: senders
  /// with ChannelClosed, receivers with nullopt. A plain call, from anywhere on the executor's OS thread.
  /// Twice is once.
  void close();
  bool closed() const { return closed_; }

  /// Items buffered; those of waiting senders do not count.
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == capacity_; }

  std::size_t waiting_senders() const { return senders_.size(); }
  std::size_t waiting_receivers() const { return receivers_.size(); }

 protected:
  // A wait on either side that a close can end.
  class Side : public QueuedWait {
   public:
    std::string describe() const override;
    std::string remedy() const override { return does_ == Does::send ? "receive from it" : "send on it"; }

   protected:
    friend class ChannelBase;
    enum class Does : bool { send, receive };
    Side(ChannelBase& channel, Does does, std::source_location where)
        : QueuedWait(where), channel_(channel), does_(does) {}
    ~Side() = default;

    ChannelBase& channel_;
    Does does_;
    bool found_closed_ = false;
  };

  ChannelBase(std::size_t capacity, const char* name) : capacity_(capacity), name_(name) {}
  ~ChannelBase() = default;

  // Invariants: a receiver waits only while nothing is buffered, a sender only while the buffer is full.
  std::size_t capacity_;
  std::size_t size_ = 0;
  bool closed_ = false;
  const char* name_;
  WaitQueue receivers_;
  WaitQueue senders_;
};

/// A queue of items between threads, bounded. With capacity 0 each send meets a receive.
///
///     co_await channel.send(item);
///     while (auto item = co_await channel.receive()) use(*item);
///
/// Order:    items come out as they went in. Waiters on either side go by class, then as they came; a buffer
///           with room, or an item, goes to them first: no barging.
/// Nothing is lost: a send that throws, ChannelClosed or Cancelled, leaves the item with the caller, since an
///           rvalue is moved from only when it is sent. An item that was handed to a receiver is received,
///           also when a cancel comes before it runs; what is buffered when the channel goes is destroyed
///           with it.
/// Cancel:   a waiter withdraws in O(1) and has changed nothing.
/// Throws:   what a move of an item throws, to whoever makes that move; no waiter is lost by it, the item may be.
/// Cost:     O(1); the buffer is allocated by the constructor, and nothing later.
template <class T>
class Channel : public ChannelBase {
  static_assert(std::is_object_v<T> && std::is_move_constructible_v<T>);

 public:
  template <class Kept>
  class Send;
  class Receive;

  /// The name is shown in reports. Not copied.
  explicit Channel(std::size_t capacity, const char* name = nullptr)
      : ChannelBase(capacity, name), buffer_(capacity) {}
  ~Channel() {
    for (; size_ > 0; --size_) buffer_.drop();
  }

  /// `co_await channel.send(std::move(item))`: await it in the same expression, it refers to the item.
  ///
  /// Suspends: unless there is room, or a receiver waits. Cancellation point: then nothing was sent.
  /// Throws:   ChannelClosed, also when it is closed while this waits; Cancelled. The item is the caller's then.
  [[nodiscard]] Send<T&&> send(T&& item, std::source_location where = std::source_location::current()) {
    return Send<T&&>(*this, std::move(item), where);
  }
  /// Sends a copy, which is made with the call. Else as above.
  [[nodiscard]] Send<T> send(const T& item, std::source_location where = std::source_location::current()) {
    return Send<T>(*this, T(item), where);
  }
  /// `co_await channel.receive()`: an item, or nullopt when the channel is closed and drained.
  ///
  /// Suspends: unless there is an item, or it is closed. Cancellation point: then nothing was taken.
  /// Throws:   Cancelled.
  [[nodiscard]] Receive receive(std::source_location where = std::source_location::current()) {
    return Receive(*this, where);
  }

  /// A plain call: sends if `send` would not have to wait, to whom the item would go then.
  /// Returns: false when it is full or closed, and the item is untouched.
  [[nodiscard]] bool try_send(T&& item);
  [[nodiscard]] bool try_send(const T& item) {
    T copy(item);
    return try_send(std::move(copy));
  }
  /// A plain call: receives if `receive` would not have to wait.
  /// Returns: nullopt when there is nothing now; with `closed()`, nor will there be.
  [[nodiscard]] std::optional<T> try_receive() {
    std::optional<T> item;
    receive_into(item);
    return item;
  }

 private:
  class Sender;

  void receive_into(std::optional<T>& item);

  ChannelBuffer<T> buffer_;
};

/// The side that all sends have in common: where the item is.
template <class T>
class Channel<T>::Sender : public Side {
 public:
  bool await_ready() {
    if (enter()) return true;
    found_closed_ = channel_.closed();
    return found_closed_ || static_cast<Channel&>(channel_).try_send(std::move(*item_));
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(static_cast<Channel&>(channel_).senders_, frame.promise());
  }
  void await_resume() const {
    finish();
    if (found_closed_) throw ChannelClosed();
  }

 protected:
  Sender(Channel& channel, T* item, std::source_location where)
      : Side(channel, Side::Does::send, where), item_(item) {}
  ~Sender() = default;

 private:
  friend class Channel;
  using Side::channel_;
  using Side::found_closed_;

  T* item_;
};

/// The wait to send. `Kept` is T for a copy, T&& for an item of the caller.
template <class T>
template <class Kept>
class [[nodiscard]] Channel<T>::Send final : public Sender {
 public:
  Send(Channel& channel, T&& item, std::source_location where)
      : Sender(channel, nullptr, where), kept_(std::move(item)) {
    this->item_ = &kept_;
  }

 private:
  Kept kept_;
};

/// The wait to receive.
template <class T>
class [[nodiscard]] Channel<T>::Receive final : public Side {
 public:
  Receive(Channel& channel, std::source_location where) : Side(channel, Side::Does::receive, where) {}

  bool await_ready() {
    if (enter()) return true;
    item_.reset();  // it may be awaited again
    static_cast<Channel&>(channel_).receive_into(item_);
    return item_.has_value() || channel_.closed();
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(static_cast<Channel&>(channel_).receivers_, frame.promise());
  }
  std::optional<T> await_resume() {
    finish();
    if (!item_.has_value()) return std::nullopt;
    return std::optional<T>(
        std::move(*item_));  // not item_ as a whole: a wide load behind narrow stores stalls
  }

 private:
  friend class Channel;
  using Side::channel_;

  std::optional<T> item_;
};

template <class T>
bool Channel<T>::try_send(T&& item) {
  if (closed_) return false;
  if (QueuedWait* first = receivers_.first(); first != nullptr) {
    auto* const receiver = static_cast<Receive*>(first);
    receiver->item_.emplace(std::move(item));
    receivers_.remove(*receiver);
    receiver->wake();
    return true;
  }
  if (full() || !senders_.empty()) return false;  // a move that threw may have left a sender waiting
  buffer_.push(std::move(item));
  ++size_;
  return true;
}

// What was sent first comes out first; the place that this frees goes to the first sender that waits.
template <class T>
void Channel<T>::receive_into(std::optional<T>& item) {
  if (size_ > 0) {
    item.emplace(std::move(buffer_.front()));  // if this throws, the item is where it was
    buffer_.drop();
    --size_;
  }
  QueuedWait* const first = senders_.first();
  if (first == nullptr) return;
  auto* const sender = static_cast<Sender*>(first);
  if (item.has_value()) {
    buffer_.push(std::move(*sender->item_));
    ++size_;
  } else {
    item.emplace(std::move(*sender->item_));
  }
  senders_.remove(*sender);
  sender->wake();
}

}  // namespace bide
