#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/named.hpp>

namespace bide {

std::string Event::Wait::describe() const { return named("event", event_.name_); }

}  // namespace bide
