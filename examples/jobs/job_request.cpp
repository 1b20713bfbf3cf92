#include "job_request.hpp"

#include "class_map.hpp"
#include "quoted.hpp"
#include "time_text.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bide_jobs {
namespace {

constexpr std::size_t most_name_bytes = 1'000;

[[noreturn]] void refuse(const std::string& member, const std::string& expected, const Json& found) {
  // Arrays and objects may be as deep as the request is long, and dump() recurses.
  std::string text = found.is_structured() ? std::string("an ") + found.type_name()
                                           : found.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 60) + "...";
  throw ApiError(422, "member " + bide_jobs::quoted(member) + ": expected " + expected + ", found " + text);
}

/// The members of a request, each of which may be there; those that nobody asked for are refused.
class Members {
 public:
  Members(const Json& json, std::string within) : json_(json), within_(std::move(within)) {}

  const Json* find(const char* name) {
    asked_.emplace_back(name);
    const auto found = json_.find(name);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  std::string text(const char* name, std::size_t most = most_name_bytes) {
    const Json* found = find(name);
    if (found == nullptr) return {};
    if (!found->is_string()) refuse(within_ + name, "a string", *found);
    if (found->get_ref<const std::string&>().size() > most)
      refuse(within_ + name, "at most " + std::to_string(most) + " bytes", *found);
    return found->get<std::string>();
  }
  /// As `time`, and at least so long.
  std::optional<bide::Duration> time_from(const char* name, bide::Duration least) {
    const std::optional<bide::Duration> found = time(name);
    if (found && *found < least) refuse(within_ + name, "at least " + exact_time(least), json_[name]);
    return found;
  }
  /// Seconds, or a text as in a CSV.
  std::optional<bide::Duration> time(const char* name) {
    const Json* found = find(name);
    if (found == nullptr) return std::nullopt;
    constexpr const char* expected =
        "seconds as a whole number, or a time such as \"1.5s\", \"10m\" or \"2h\"";
    if (!found->is_string() && !found->is_number_unsigned()) refuse(within_ + name, expected, *found);
    const ParsedTime parsed = parse_time(found->is_string() ? found->get<std::string>() : found->dump());
    if (parsed.expected != nullptr) refuse(within_ + name, parsed.expected, *found);
    return parsed.value;
  }
  std::optional<std::uint64_t> number(const char* name, std::uint64_t least, std::uint64_t most) {
    const Json* found = find(name);
    if (found == nullptr) return std::nullopt;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() < least ||
        found->get<std::uint64_t>() > most) {
      refuse(within_ + name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most),
             *found);
    }
    return found->get<std::uint64_t>();
  }
  void refuse_others() const {
    for (const auto& [name, value] : json_.items()) {
      if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
      std::string known;
      for (const std::string& one : asked_) known += (known.empty() ? "" : ", ") + one;
      throw ApiError(422,
                     "member " + bide_jobs::quoted(within_ + name) + " is not known; expected of " + known);
    }
  }

 private:
  const Json& json_;
  std::string within_;
  std::vector<std::string> asked_;
};

bide::Dependency dependency_from(const Json& json) {
  using On = bide::Dependency::On;
  if (json.is_number_unsigned()) return bide::Dependency(json.get<bide::JobId>());
  if (json.is_string()) return bide::Dependency(json.get<std::string>());
  if (!json.is_object()) refuse("after", "an id, a key, or an object with id or key, and on", json);
  Members members(json, "after.");
  const std::optional<std::uint64_t> id = members.number("id", 1, UINT64_MAX);
  const std::string key = members.text("key");
  const std::string on = members.text("on");
  members.refuse_others();
  if (id.has_value() == !key.empty()) refuse("after", "id or key, one of the two", json);
  bide::Dependency dependency = id ? bide::Dependency(*id) : bide::Dependency(key);
  if (on == "failure") {
    dependency.on = On::failure;
  } else if (on == "completion") {
    dependency.on = On::completion;
  } else if (!on.empty() && on != "success") {
    refuse("after.on", "success, completion or failure", json["on"]);
  }
  return dependency;
}

void read_labels(Members& members, bide::Job& job) {
  const Json* labels = members.find("labels");
  if (labels != nullptr) {
    if (!labels->is_object()) refuse("labels", "an object of strings", *labels);
    for (const auto& [name, value] : labels->items()) {
      if (!value.is_string()) refuse("labels." + name, "a string", value);
      job.labels[name] = value.get<std::string>();
    }
  }
  const std::string name = members.text("name");
  if (!name.empty()) job.labels["name"] = name;
}

bide::FixedStart::Missed missed_from(Members& members, const Json& json) {
  using Missed = bide::FixedStart::Missed;
  const std::string missed = members.text("missed");
  if (missed == "skip") return Missed::skip;
  if (missed == "fail") return Missed::fail;
  if (!missed.empty() && missed != "run_late") refuse("missed", "run_late, skip or fail", json["missed"]);
  return Missed::run_late;
}

/// What a job and the template of a recurring one have in common.
bide::Job template_from(Members& members) {
  constexpr std::uint64_t most_retries = 1000;
  bide::Job job;
  job.payload = members.text("command", most_job_bytes);
  if (job.payload.empty())
    throw ApiError(422, "member \"command\": expected a command for /bin/sh, found none");
  if (job.payload.find('\0') != std::string::npos)
    throw ApiError(422, "member \"command\": expected a text without NUL");
  const std::string kind = members.text("kind");
  if (!kind.empty()) job.kind = kind;
  job.tenant = members.text("tenant");
  const Json* priority = members.find("priority");
  if (priority != nullptr) {
    const std::optional<Priority> parsed =
        priority->is_string() ? parse_class(priority->get<std::string>()) : std::nullopt;
    if (!parsed) refuse("priority", "critical, high, normal or low", *priority);
    job.priority = *parsed;
  }
  job.duration_hint = members.time("hint");
  job.timeout = members.time_from("timeout", bide::Duration(1));
  job.retry.max_attempts =
      static_cast<std::uint32_t>(members.number("retries", 0, most_retries).value_or(0) + 1);
  read_labels(members, job);
  return job;
}

}  // namespace

Json parse_object(const std::string& text) {
  if (text.size() > most_job_bytes) throw ApiError(413, "expected at most 64 KiB");
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min<std::size_t>(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const std::string_view before = std::string_view(text).substr(0, at);
    const std::size_t line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    throw ApiError(400, "line " + std::to_string(line) + ", column " + std::to_string(at - line_start + 1) +
                            ": expected JSON");
  } catch (const Json::exception& error) {  // a number that is too large
    throw ApiError(400, std::string("expected other JSON: ") + error.what());
  }
  if (!json.is_object()) throw ApiError(400, "expected a JSON object");
  return json;
}

bide::Job job_from(const Json& json) {
  Members members(json, "");
  bide::Job job = template_from(members);
  job.key = members.text("key");
  job.deadline_in = members.time("deadline_in");
  if (const std::optional<bide::Duration> start_in = members.time("start_in")) {
    bide::FixedStart start;
    start.at = bide::add_saturating(bide::now(), *start_in);
    start.tolerance = members.time("tolerance").value_or(start.tolerance);
    start.missed = missed_from(members, json);
    job.start = start;
  }
  if (const Json* after = members.find("after")) {
    if (!after->is_array()) refuse("after", "an array", *after);
    for (const Json& one : *after) job.after.push_back(dependency_from(one));
  }
  members.refuse_others();
  return job;
}

bide::Recurring recurring_from(const Json& json) {
  Members members(json, "");
  const std::string name = members.text("name");
  if (name.empty()) throw ApiError(422, "member \"name\": expected a name, found none");
  bide::Recurring recurring(name, template_from(members));
  recurring.interval = members.time_from("every", least_interval);
  recurring.cron = members.text("cron");
  const std::string zone = members.text("zone");
  if (!zone.empty()) recurring.zone = zone;
  recurring.deadline_after = members.time("deadline_after");
  const std::string missed = members.text("missed");
  if (missed == "run_late") {
    recurring.missed = bide::Recurring::Missed::run_late;
  } else if (!missed.empty() && missed != "skip") {
    refuse("missed", "skip or run_late", json["missed"]);
  }
  const std::string overlap = members.text("overlap");
  if (overlap == "allow") {
    recurring.overlap = bide::Recurring::Overlap::allow;
  } else if (overlap == "queue") {
    recurring.overlap = bide::Recurring::Overlap::queue;
  } else if (!overlap.empty() && overlap != "skip") {
    refuse("overlap", "skip, allow or queue", json["overlap"]);
  }
  members.refuse_others();
  if (recurring.interval.has_value() == !recurring.cron.empty())
    throw ApiError(422, "expected a member \"every\" or \"cron\", one of the two");
  return recurring;
}

}  // namespace bide_jobs
