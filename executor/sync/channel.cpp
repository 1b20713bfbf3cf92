#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/named.hpp>

namespace bide {

void ChannelBase::close() {
  closed_ = true;
  for (WaitQueue* side : {&receivers_, &senders_}) {
    while (QueuedWait* next = side->take_first()) {
      static_cast<Side*>(next)->found_closed_ = true;
      static_cast<Side*>(next)->wake();
    }
  }
}

std::string ChannelBase::Side::describe() const {
  const std::string name = named("channel", channel_.name_);
  if (does_ == Does::receive) return "an item on " + name;
  return (channel_.capacity_ > 0 ? "room in " : "a receiver on ") + name;
}

}  // namespace bide
