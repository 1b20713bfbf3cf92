#include <bide/executor/io/stream_listener.hpp>

#include <bide/executor/io/stream_socket.hpp>

namespace bide {

StreamListener::StreamListener(Descriptor descriptor, const Address& address, AcceptExhausted exhausted)
    : descriptor_(std::move(descriptor)), address_(address) {
  descriptor_.repeat(*new Accepting(descriptor_, address_, exhausted));
}

ListenerStatistics StreamListener::statistics() const {
  const auto* accepting = static_cast<const Accepting*>(descriptor_.repeating());
  return accepting != nullptr ? accepting->statistics() : ListenerStatistics();
}

CloseDescriptor StreamListener::close(std::source_location where) {
  return CloseDescriptor(descriptor_, socket_name(address_), where);
}

}  // namespace bide
