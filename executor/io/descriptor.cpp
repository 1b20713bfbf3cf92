#include <bide/executor/io/descriptor.hpp>

#include <poll.h>
#include <unistd.h>
#include <cerrno>

#include <bide/executor/blocking_pool.hpp>
#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/io/io_error.hpp>

namespace bide {

bool Descriptor::in_use() const {
  return waits_ != nullptr || closer_ != nullptr || (repeating_ != nullptr && repeating_->awaited());
}

Driver& Descriptor::driver(Executor& executor) {
  Driver* driver = executor.driver();
  if (driver == nullptr) driver = &driver_of(executor);
  if (life_ == nullptr || *life_ == nullptr) {
    life_ = driver->life();
  } else {
    require(*life_ == driver, "a descriptor is used on two executors");
  }
  return *driver;
}

void Descriptor::repeat(RepeatingOperation& operation) noexcept {
  require(repeating_ == nullptr, "a descriptor gets a second operation that repeats");
  repeating_ = &operation;
}

void Descriptor::take_from(Descriptor& other) noexcept {
  require(!other.in_use(), "a descriptor is moved while a thread awaits an operation on it");
  number_ = std::exchange(other.number_, -1);
  owned_ = other.owned_;
  closing_ = std::exchange(other.closing_, false);
  repeating_ = std::exchange(other.repeating_, nullptr);
  if (repeating_ != nullptr) repeating_->on_ = this;
  life_ = std::move(other.life_);
}

void Descriptor::close_now() noexcept {
  require(!in_use(), "a descriptor is closed by a plain call while a thread awaits an operation on it");
  if (repeating_ != nullptr) {
    if (repeating_->under_way()) return repeating_->give_up(*this);
    delete std::exchange(repeating_, nullptr);
  }
  closing_ = false;
  const int number = std::exchange(number_, -1);
  if (number < 0) return;
  // Also one that is not owned: its owner may close it, and the number comes again.
  if (life_ != nullptr && *life_ != nullptr) (*life_)->closing(number);
  if (owned_ == Owned::yes) ::close(number);
}

int Descriptor::release() noexcept {
  require(!in_use() && (repeating_ == nullptr || !repeating_->under_way()),
          "a descriptor is released while an operation on it is in flight");
  delete std::exchange(repeating_, nullptr);
  if (number_ >= 0 && life_ != nullptr && *life_ != nullptr) (*life_)->closing(number_);
  return std::exchange(number_, -1);
}

// A cancel may complete its operation within the call.
void Descriptor::end_all() noexcept {
  closing_ = true;
  for (DescriptorWait* wait = waits_; wait != nullptr;) {
    DescriptorWait* const next = wait->next_;
    static_cast<void>(wait->ask_to_end());
    wait = next;
  }
  if (repeating_ != nullptr) repeating_->closing();
}

void Descriptor::operation_ended() noexcept {
  if (!closing_ || waits_ != nullptr || (repeating_ != nullptr && repeating_->under_way())) return;
  if (closer_ != nullptr) {
    closer_->go_on();
  } else {
    close_now();
  }
}

// For a thread that may not wait for it.
void Descriptor::close_when_idle() noexcept {
  end_all();
  operation_ended();
}

void DescriptorWait::begin_on(Frame& frame) {
  Executor& executor = *thread()->executor;
  Driver& driver = on_->driver(executor);
  BlockingPool* const pool = kind == Kind::call ? &executor.blocking_pool() : nullptr;
  descriptor = on_->number();
  next_ = on_->waits_;
  if (next_ != nullptr) next_->previous_ = this;
  on_->waits_ = this;
  pool != nullptr ? begin(frame, *pool) : begin(frame, driver);
}

// A start may complete within the call: a loop, since nested calls would overflow the stack.
void DescriptorWait::completed() noexcept {
  if (starting_) {
    completed_in_start_ = true;
    return;
  }
  while (again()) {
    starting_ = true;
    completed_in_start_ = false;
    (*on_->life_)->start(*this);
    starting_ = false;
    if (!completed_in_start_) return;
  }
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : on_->waits_) = next_;
  OperationWait::completed();
  on_->operation_ended();  // behind the wake: who waited here runs before who closes
}

// True: it has to be started once more.
bool DescriptorWait::again() noexcept {
  const bool interrupted = result == -EINTR;
  const bool not_ready = result == -EAGAIN && kind != Kind::connect;
  if (cancel_asked && (interrupted || not_ready || polls_)) result = -ECANCELED;
  if (kind == Kind::call || (result < 0 && (cancel_asked || (!interrupted && !not_ready)))) return false;
  if (polls_) {
    if (interrupted || not_ready) return true;
    kind = kind_kept_;
    flags = flags_kept_;
    polls_ = false;
    return true;
  }
  if (not_ready) wait_until_ready();
  return interrupted || not_ready || goes_on();
}

void DescriptorWait::wait_until_ready() noexcept {
  kind_kept_ = kind;
  flags_kept_ = flags;
  polls_ = true;
  const bool writes =
      kind == Kind::send || kind == Kind::send_message || kind == Kind::write || kind == Kind::write_vector;
  kind = Kind::poll;
  flags = writes ? POLLOUT : POLLIN;
}

std::int64_t DescriptorWait::end_or_throw() const {
  const std::int64_t ended = end();
  if (ended < 0) throw_io_error(ended, describe());
  return ended;
}

RepeatingOperation::~RepeatingOperation() = default;

void RepeatingOperation::arm(Executor& executor) {
  Driver& driver = on_->driver(executor);
  executor_ = &executor;
  driver_ = &driver;
  descriptor = on_->number();
  in_flight = true;
  cancel_asked = false;
  driver.start(*this);
}

void RepeatingOperation::stop() noexcept {
  if (!in_flight || cancel_asked) return;
  cancel_asked = true;
  driver_->cancel(*this);
}

void RepeatingOperation::give_up(Descriptor& owner) noexcept {
  on_ = nullptr;
  owner.repeating_ = nullptr;
  kept_ = std::move(owner);
  work_.end();
  work_.begin(*executor_);
  if (cancel_asked) return;
  cancel_asked = true;
  driver_->cancel(*this);
}

void RepeatingOperation::completed() noexcept {
  if (!more) in_flight = false;
  if (on_ == nullptr) {
    drop();
    if (more) return;
    work_.end();
    delete this;
    return;
  }
  const bool ended = !more;  // `arrived` may start it again
  Descriptor& owner = *on_;
  arrived();
  if (ended) owner.operation_ended();
}

bool CloseDescriptor::await_ready() {
  const bool cancelled = enter();
  if (!closed_.open()) return true;
  if (cancelled) closed_.close_when_idle();
  return cancelled;
}

void CloseDescriptor::close(Frame& frame) {
  try {
    driver_ = &closed_.driver(*thread()->executor);
  } catch (...) {  // there is none yet, and no means to make one
    closed_.close_now();
    throw;
  }
  frame_ = &frame;
  park(frame);
  ends_.begin(*thread()->executor);
  closed_.end_all();
  closed_.closer_ = this;
  closed_.operation_ended();
}

// Nothing is in flight any more.
void CloseDescriptor::go_on() noexcept {
  ends_.end();
  closed_.closing_ = false;
  delete std::exchange(closed_.repeating_, nullptr);
  descriptor = std::exchange(closed_.number_, -1);
  if (closed_.owned_ == Descriptor::Owned::no) {
    driver_->closing(descriptor);
    closed_.closer_ = nullptr;
    wake();
  } else {
    begin(*frame_, *driver_);
  }
}

void CloseDescriptor::completed() noexcept {
  closed_.closer_ = nullptr;
  OperationWait::completed();
}

// Linux has closed it also where it says EINTR.
void CloseDescriptor::await_resume() const {
  const std::int64_t ended = end();
  if (ended < 0 && ended != -EINTR) throw_io_error(ended, describe());
}

}  // namespace bide
