#pragma once

#include <source_location>
#include <utility>

#include <bide/executor/io/accepting.hpp>
#include <bide/executor/io/address.hpp>
#include <bide/executor/io/descriptor.hpp>

namespace bide {

/// What a TcpListener and a UnixListener have in common.
class StreamListener {
 public:
  const Address& local_address() const { return address_; }
  ListenerStatistics statistics() const;

  /// `co_await listener.close()`: see CloseDescriptor. Accepts that wait end with std::errc::operation_canceled.
  [[nodiscard]] CloseDescriptor close(std::source_location where = std::source_location::current());
  bool is_open() const { return descriptor_.open(); }
  int number() const { return descriptor_.number(); }

 protected:
  StreamListener(Descriptor descriptor, const Address& address, AcceptExhausted exhausted);

  Descriptor descriptor_;
  Address address_;
};

/// The wait for a connection, which `Stream::accepted` makes an object of.
template <class Stream>
class [[nodiscard]] AcceptStream final : public AcceptWait {
 public:
  AcceptStream(Descriptor& on, const Address& listener, std::source_location where)
      : AcceptWait(on, listener, where) {}
  Stream await_resume() { return Stream::accepted(take_connection(), listener()); }
};

}  // namespace bide
