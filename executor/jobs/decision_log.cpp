#include <bide/executor/jobs/decision_log.hpp>

namespace bide {

const char* to_string(DecisionRule rule) {
  constexpr const char* names[] = {"only_one", "fixed_start", "tenant_share", "lane",
                                   "score",    "priority",    "latest_start", "sequence"};
  return names[static_cast<std::size_t>(rule)];
}

}  // namespace bide
