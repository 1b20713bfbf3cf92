#include "faulty_driver.hpp"

#include <sys/stat.h>
#include <sys/uio.h>
#include <cerrno>
#include <utility>

namespace bide::test {

namespace {

using Kind = Operation::Kind;

bool moves_bytes(Kind kind) {
  return kind == Kind::receive || kind == Kind::send || kind == Kind::read || kind == Kind::write;
}
// A kernel never gives a part of what a signalfd or an eventfd has.
bool may_be_short(int descriptor) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return false;
  return S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode);
}
bool moves_vectors(Kind kind) { return kind == Kind::read_vector || kind == Kind::write_vector; }

}  // namespace

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::none:
      return "none";
    case Fault::delayed:
      return "results are delayed";
    case Fault::shortened:
      return "transfers are shortened";
    case Fault::interrupted:
      return "operations are interrupted";
    case Fault::tried_again:
      return "operations have to be tried again";
  }
  return "";
}

struct FaultyDriver::StandIn final : Operation {
  explicit StandIn(FaultyDriver& driver) : Operation(Kind::call), owner(&driver) {}
  void completed() noexcept override { owner->ended(*this); }
  std::int64_t call_blocking() noexcept override { return original->call_blocking(); }

  void copy(Operation& from) {
    original = &from;
    kind = from.kind;
    repeats = from.repeats;
    takes_buffer = from.takes_buffer;
    descriptor = from.descriptor;
    flags = from.flags;
    length = from.length;
    permissions = from.permissions;
    memory = from.memory;
    more_memory = from.more_memory;
    offset = from.offset;
    size = from.size;
    in_flight = true;
    cancel_asked = false;
  }

  void shorten() {
    if (!may_be_short(descriptor)) return;
    if (moves_bytes(kind) && !takes_buffer && length > 1) length = 1;
    if (!moves_vectors(kind)) return;
    const auto* const parts = static_cast<const iovec*>(memory);
    for (std::uint32_t part = 0; part < length; ++part) {
      if (parts[part].iov_len == 0) continue;
      one_byte = {parts[part].iov_base, 1};
      memory = &one_byte;
      length = 1;
      return;
    }
  }

  FaultyDriver* owner;
  Operation* original = nullptr;
  iovec one_byte{};
};

FaultyDriver::FaultyDriver(std::unique_ptr<Driver> inner, Fault fault)
    : inner_(std::move(inner)), fault_(fault) {}

FaultyDriver::~FaultyDriver() {
  inner_.reset();
  while (!held_.empty()) tell_held();
}

bool FaultyDriver::fails_now(const Operation& operation, std::int64_t& error) {
  if (operation.kind == Kind::close || operation.kind == Kind::call || operation.kind == Kind::connect)
    return false;
  if (fault_ == Fault::interrupted) error = -EINTR;
  if (fault_ == Fault::tried_again && operation.kind < Kind::open && operation.kind != Kind::poll)
    error = -EAGAIN;
  return error != 0 && count_ % 3 == 0;
}

void FaultyDriver::start(Operation& operation) noexcept {
  ++count_;
  operation.next = nullptr;
  if (inner_ == nullptr) return held_.push_back({&operation, -ECANCELED, false, 0});
  std::int64_t error = 0;
  if (fails_now(operation, error)) return held_.push_back({&operation, error, false, 0});
  if (free_.empty()) {
    made_.push_back(std::make_unique<StandIn>(*this));
    free_.push_back(made_.back().get());
  }
  StandIn& stand_in = *free_.back();
  free_.pop_back();
  stand_in.copy(operation);
  if (fault_ == Fault::shortened && count_ % 2 == 0) stand_in.shorten();
  operation.next = &stand_in;
  inner_->start(stand_in);
}

void FaultyDriver::ended(StandIn& stand_in) noexcept {
  const Held held{stand_in.original, stand_in.result, stand_in.more, stand_in.buffer};
  if (!held.more) {
    stand_in.in_flight = false;
    held.operation->next = nullptr;
    free_.push_back(&stand_in);
  }
  if (fault_ == Fault::delayed) return held_.push_back(held);
  tell(held);
}

void FaultyDriver::tell(const Held& held) noexcept {
  held.operation->result = held.result;
  held.operation->more = held.more;
  held.operation->buffer = held.buffer;
  held.operation->completed();
}

void FaultyDriver::tell_held() noexcept {
  const std::deque<Held> now = std::exchange(held_, {});
  for (const Held& held : now) tell(held);
}

void FaultyDriver::cancel(Operation& operation) noexcept {
  if (operation.next == nullptr) return;  // its result is held back
  operation.next->cancel_asked = true;
  inner_->cancel(*operation.next);
}

void FaultyDriver::collect() noexcept {
  tell_held();
  inner_->collect();
}

void FaultyDriver::collect_before_wait() noexcept {
  tell_held();
  inner_->collect_before_wait();
}

void FaultyDriver::wait(Duration longest) noexcept {
  inner_->wait(held_.empty() ? longest : Duration::zero());
}

}  // namespace bide::test
