#include <bide/executor/io/uring_driver.hpp>

#include <algorithm>
#include <cerrno>

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/uring_ring.hpp>
#include <bide/queue/require.hpp>

namespace bide {

UringDriver::UringDriver(Executor& executor, const DriverOptions& options)
    : ring_(std::make_unique<UringRing>(options)),
      blocking_(executor, *this),
      wake_descriptor_(executor.wake_descriptor()),
      os_thread_(static_cast<std::uintptr_t>(::pthread_self())),
      kept_for_cancels_(std::min(ring_->entries() / 4, 16U)),
      zero_copy_from_bytes_(options.zero_copy_from_bytes),
      rings_of_buffers_(options.buffer_ring == DriverOptions::Use::if_there),
      buffer_ring_(options.buffer_count, options.buffer_bytes),
      own_buffers_(options.buffer_count, options.buffer_bytes) {
  probe(options);
}

UringDriver::~UringDriver() {
  const bool elsewhere = os_thread_ != static_cast<std::uintptr_t>(::pthread_self());
  if (mark_.in_child() || elsewhere) {
    require(in_flight_ == 0 || mark_.in_child(),
            "an io_uring driver with operations in flight is destroyed by another OS thread");
    blocking_.finish();
    ring_->abandon();
    return;
  }
  ending_ = true;
  blocking_.finish();
  for (OperationList* const held : {&waiting_, &starved_, &in_kernel_}) {
    for (Operation* operation = held->first(); operation != nullptr;) {
      Operation* const next = operation->next;
      cancel(*operation);
      operation = next;
    }
  }
  while (in_flight_ > 0) {
    collect();
    blocking_.finish();
    if (in_flight_ > 0) wait(std::chrono::milliseconds(100));
  }
}

void UringDriver::check_thread() const {
  require(os_thread_ == static_cast<std::uintptr_t>(::pthread_self()),
          "an io_uring driver is used by another OS thread than the one that made it");
}

OperationList& UringDriver::list(Place of) {
  switch (of) {
    case cancel_waits:
      return cancel_waits_;
    case waiting:
      return waiting_;
    case starved:
      return starved_;
    case ended:
      return ended_;
    default:
      return in_kernel_;
  }
}

void UringDriver::put(Operation& operation, Place where) {
  operation.driver_word = (operation.driver_word & ~std::uint32_t{place_bits}) | where;
  list(where).push(operation);
}

void UringDriver::take_out(Operation& operation) {
  list(place(operation)).remove(operation);
  operation.driver_word &= ~std::uint32_t{place_bits};
}

void UringDriver::start(Operation& operation) noexcept {
  operation.driver_word = 0;
  operation.steps = 0;
  operation.cancel_asked = false;
  ++statistics_.started;
  ++in_flight_;
  if (mark_.in_child()) return blocking_.refuse(operation, -ForkMark::error);
  check_thread();
  if (ending_ && operation.kind != Operation::Kind::close) return tell(operation, -ECANCELED);
  if (operation.kind == Operation::Kind::close) closing(operation.descriptor);
  if (operation.takes_buffer) {
    if (const int result = make_buffers(); result < 0) return tell(operation, result);
  }
  launch(operation);
}

// A close is done, come what may: the descriptor would stay open.
void UringDriver::cancel(Operation& operation) noexcept {
  ++statistics_.cancels;
  if (operation.kind == Operation::Kind::close && !mark_.in_child()) return;
  operation.cancel_asked = true;
  switch (place(operation)) {
    case in_pool:
      return blocking_.cancel(operation);
    case waiting:
    case starved:
      take_out(operation);
      return end_later(operation, -ECANCELED);
    case in_kernel:
      if (is(operation, cancel_sent)) return;
      take_out(operation);
      return mark_.in_child() ? end_later(operation, -ECANCELED) : put(operation, cancel_waits);
    default:
      return;
  }
}

void UringDriver::end_later(Operation& operation, std::int64_t result) {
  operation.result = result;
  put(operation, ended);
}

// With `more` set it stays where it is.
void UringDriver::tell(Operation& operation, std::int64_t result) {
  if (is(operation, fed)) [[unlikely]] {  // what it did not need is the next one's
    operation.driver_word &= ~std::uint32_t{fed};
    if (result <= 0) feed_one();
  }
  operation.result = result;
  if (!operation.more) --in_flight_;
  ++statistics_.completed;
  operation.completed();
}

void UringDriver::tell_ended() noexcept {
  while (!ended_.empty()) {
    Operation& operation = ended_.pop();
    operation.more = false;
    tell(operation, operation.result);
  }
}

void UringDriver::end_all_in_child() noexcept {
  for (OperationList* const held : {&in_kernel_, &cancel_waits_, &waiting_, &starved_}) {
    while (!held->empty()) end_later(held->pop(), -ForkMark::error);
  }
  tell_ended();
}

// A bounded number of calls: a flood from outside must not keep the threads from their turns.
void UringDriver::collect() noexcept {
  constexpr int most_calls = 64;
  if (mark_.in_child()) return end_all_in_child();
  check_thread();
  collect_before_wait();
  for (int calls = 0; calls < most_calls; ++calls) {
    refill();
    if (ring_->pending() == 0 && !ring_->wants_call()) return;
    const bool taken = call(0, Duration::zero());
    reap();
    if (!taken) return;
  }
}

void UringDriver::collect_before_wait() noexcept {
  if (mark_.in_child()) return end_all_in_child();
  tell_ended();
  reap();
}

void UringDriver::wait(Duration longest) noexcept {
  if (mark_.in_child()) {
    constexpr Duration a_while =
        std::chrono::milliseconds(100);  // no post can come: its OS threads are the parent's
    const Duration time = std::clamp(longest, Duration::zero(), a_while);
    const timespec timeout{0, time.count() % 1'000'000'000};
    ::ppoll(nullptr, 0, &timeout, nullptr);
    return;
  }
  check_thread();
  for (;;) {
    refill();
    if (waiting_.empty() && cancel_waits_.empty()) break;
    if (!call(0, Duration::zero())) return;
  }
  const bool at_once = longest <= Duration::zero() || !ended_.empty();
  if (at_once && ring_->pending() == 0 && !ring_->wants_call()) return;
  call(at_once ? 0 : 1, longest);
}

void UringDriver::closing(int descriptor) noexcept {
  const auto slot = static_cast<std::size_t>(descriptor);
  if (descriptor < 0 || slot >= registered_.size() || !registered_[slot] || mark_.in_child()) return;
  constexpr int none = -1;
  io_uring_register_files_update(ring_->get(), static_cast<unsigned>(descriptor), &none, 1);
  registered_[slot] = false;
}

}  // namespace bide
