#include <bide/executor/sync/named.hpp>

namespace bide {

std::string named(const char* kind, const char* name) {
  if (name == nullptr) return kind;
  return std::string(kind) + " \"" + name + "\"";
}

}  // namespace bide
