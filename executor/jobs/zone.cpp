#include <bide/executor/jobs/zone.hpp>

#include <map>
#include <mutex>
#include <stdexcept>

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

namespace bide {

using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

namespace {

sys_seconds ours(cctz::time_point<cctz::seconds> at) {
  return sys_seconds(seconds(at.time_since_epoch().count()));
}

cctz::time_point<cctz::seconds> theirs(sys_seconds at) {
  return cctz::time_point<cctz::seconds>(cctz::seconds(at.time_since_epoch().count()));
}

// What could name a zone, and no other file of the machine.
bool looks_like_a_zone(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
  return !name.empty() && name.front() != '/' && name.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace

Zone Zone::named(std::string_view name) {
  if (name == "UTC") return {};
  // Never destroyed: a Zone may outlive what static destruction leaves.
  static std::mutex guard;
  static auto& zones = *new std::map<std::string, cctz::time_zone, std::less<>>;
  const std::scoped_lock lock(guard);
  const auto known = zones.find(name);
  if (known != zones.end()) return Zone(&known->second);
  cctz::time_zone zone;
  if (!looks_like_a_zone(name) || !cctz::load_time_zone(std::string(name), &zone))
    throw std::invalid_argument("there is no time zone '" + std::string(name) +
                                "' here: expected a name such as Europe/Berlin, and the tzdata package");
  return Zone(&zones.emplace(name, zone).first->second);
}

std::string Zone::name() const { return zone_ == nullptr ? "UTC" : zone_->name(); }

local_seconds Zone::to_local(sys_seconds at) const {
  if (zone_ == nullptr) return local_seconds(at.time_since_epoch());
  return local_seconds(seconds(zone_->lookup(theirs(at)).cs - cctz::civil_second()));
}

Zone::Meaning Zone::meaning(local_seconds local) const {
  if (zone_ == nullptr) {
    const sys_seconds same(local.time_since_epoch());
    return {.kind = Meaning::Kind::once, .first = same, .again = same};
  }
  const auto found = zone_->lookup(cctz::civil_second() + local.time_since_epoch().count());
  if (found.kind == cctz::time_zone::civil_lookup::REPEATED)
    return {.kind = Meaning::Kind::twice, .first = ours(found.pre), .again = ours(found.post)};
  if (found.kind == cctz::time_zone::civil_lookup::SKIPPED)
    return {.kind = Meaning::Kind::never, .first = ours(found.trans), .again = ours(found.trans)};
  return {.kind = Meaning::Kind::once, .first = ours(found.pre), .again = ours(found.pre)};
}

std::optional<sys_seconds> Zone::next_change(sys_seconds at) const {
  cctz::time_zone::civil_transition change;
  if (zone_ == nullptr || !zone_->next_transition(theirs(at), &change)) return {};
  return ours(zone_->lookup(change.to).trans);
}

}  // namespace bide
