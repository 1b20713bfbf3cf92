#include "api.hpp"

#include "api_call.hpp"
#include "api_error.hpp"
#include "job_request.hpp"
#include "loopback.hpp"
#include "pages/pages.hpp"

#include <bide/executor/jobs/job_refused.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace bide_jobs {

using bide::JobFilter;
using bide::JobId;
using bide::JobStatus;
using bide::JobSummary;
using bide::Task;

namespace {

constexpr std::size_t most_listed = 1'000;
constexpr std::string_view json_type = "application/json";
Answer json_answer(int status, const Json& json) {
  Answer answer;
  answer.status = status;
  answer.body = json_line(json);
  answer.headers = "Cache-Control: no-store\r\n";
  return answer;
}

std::optional<JobStatus> parse_status(std::string_view name) {
  for (std::size_t i = 0; i < bide::job_status_count; ++i) {
    const auto status = static_cast<JobStatus>(i);
    if (bide::to_string(status) == name) return status;
  }
  return std::nullopt;
}

/// Takes as long for a wrong token as for the right one of its length.
bool same_token(std::string_view given, std::string_view token) {
  unsigned difference = given.size() == token.size() ? 0U : 1U;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(token[i]) ^ static_cast<unsigned char>(other));
  }
  return difference == 0;
}

bool names_this_machine(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  if (has_port) host = host.substr(0, colon);
  return is_loopback(host);
}

[[noreturn]] void refuse_method(const std::string& allowed) {
  throw ApiError(405, "expected a method of " + allowed);
}

}  // namespace

Api::Api(Worker& worker, Access access)
    : worker_(worker), scheduler_(worker.scheduler()), access_(std::move(access)), view_(scheduler_) {}

Answer Api::error(int status, std::string_view text) {
  return json_answer(status, Json{{"error", std::string(text)}});
}

Task<Answer> Api::answer(const bide_http::Request& request) {
  Answer answer;
  try {
    const ApiCall call(request);
    check_access(request, call);
    check_origin(request, call);
    answer = co_await route(call);
    // What is told has been kept before.
    if (call.method != "GET") co_await scheduler_.kept();
  } catch (const ApiError& refused) {
    answer = error(refused.status(), refused.what());
    if (refused.status() == 401) answer.headers += "WWW-Authenticate: Bearer\r\n";
  } catch (const bide::JobRefused& refused) {
    const bool passes = refused.reason() == bide::JobRefused::Reason::full ||
                        refused.reason() == bide::JobRefused::Reason::closed;
    answer = error(passes ? 503 : 422, refused.what());
    if (passes) answer.headers += "Retry-After: 1\r\n";
  } catch (const std::invalid_argument& refused) {
    answer = error(422, refused.what());
  } catch (const std::exception& failed) {
    answer = error(500, failed.what());
  }
  co_return answer;
}

/// A browser says which page a request comes from, and asks before it sends JSON to another site than the page's: what a
/// page of somebody else may send unasked is refused here.
void Api::check_origin(const bide_http::Request& request, const ApiCall& call) {
  if (call.method == "GET") return;
  const std::size_t scheme_end = request.origin.find("://");
  const bool elsewhere =
      scheme_end == std::string::npos || request.origin.substr(scheme_end + 3) != request.host;
  if (!request.origin.empty() && elsewhere)
    throw ApiError(403, "expected a request of this server's own page, found one of " + request.origin);
  const bool is_json = request.content_type.substr(0, json_type.size()) == json_type;
  if (!call.body.empty() && !is_json) throw ApiError(415, "expected Content-Type: application/json");
}

/// The page itself is open: it shows nothing without the token, and asks for it.
void Api::check_access(const bide_http::Request& request, const ApiCall& call) const {
  if (access_.only_local && !names_this_machine(request.host))
    throw ApiError(421, "expected a request for this machine, such as localhost or 127.0.0.1");
  if (call.path.empty() || access_.token.empty()) return;
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view given = request.authorization;
  if (given.substr(0, scheme.size()) != scheme || !same_token(given.substr(scheme.size()), access_.token))
    throw ApiError(401, "expected the header Authorization: Bearer TOKEN");
}

Task<Answer> Api::route(const ApiCall& call) {
  Answer answer;
  const bool reads = call.method == "GET";
  if (call.path.empty()) {
    if (!reads) refuse_method("GET");
    answer.type = "text/html; charset=utf-8";
    answer.headers =
        "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n"
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "connect-src 'self'; frame-ancestors 'none'\r\n";
    answer.body = worker_page();
  } else if (call.is({"metrics"}) && reads) {
    answer.type = "text/plain; version=0.0.4; charset=utf-8";
    answer.body = scheduler_.metrics();
  } else if (call.is({"api", "state"}) && reads) {
    answer.body = view_.state();
    answer.headers = "Cache-Control: no-store\r\n";
  } else if (call.is({"api", "jobs"}) && call.method == "POST") {
    answer = co_await submit(call);
  } else if (call.is({"api", "jobs"})) {
    answer = jobs(call);
  } else if (call.path.size() == 3 && call.path[0] == "api" && call.path[1] == "jobs") {
    const std::optional<JobId> id = parse_whole(call.path[2]);
    if (!id) throw ApiError(404, "expected /api/jobs/ID with an id that is a number");
    answer = job(call, *id);
  } else if (call.path.size() >= 2 && call.path[0] == "api" && call.path[1] == "dead-letters") {
    answer = dead_letters(call);
  } else if (call.is({"api", "decisions"}) && reads) {
    answer = decisions();
  } else if (call.is({"api", "explain"}) && reads) {
    answer = explain(call);
  } else if (call.path.size() >= 2 && call.path[0] == "api" && call.path[1] == "recurring") {
    answer = recurring(call);
  } else {
    throw ApiError(404, "there is nothing at this target for " + call.method);
  }
  co_return answer;
}

void Api::know(const std::string& kind) {
  if (!worker_.know_from_client(kind))
    throw ApiError(422, "there are too many kinds already; use one that was used before");
}

Task<Answer> Api::submit(const ApiCall& call) {
  const Json json = parse_object(call.body);
  bide::Job job = job_from(json);
  know(job.kind);
  const bool known = !job.key.empty() && scheduler_.find(job.key).has_value();
  const bool has_deadline = job.deadline_in.has_value();
  bide::Feasibility estimate;
  if (has_deadline) estimate = scheduler_.feasibility(job);
  const bide::JobHandle handle = co_await scheduler_.submit(std::move(job));
  view_.changed(handle.id());
  const std::optional<JobSummary> summary = scheduler_.summary(handle.id());
  Json created{{"id", handle.id()}};
  if (summary) created = job_json(scheduler_, *summary);
  created["existed"] = known;
  if (has_deadline) {
    created["feasible"] = estimate.feasible();
    created["expected_late_ms"] = estimate.late_by.count() / 1'000'000;
  }
  Answer answer = json_answer(known ? 200 : 201, created);
  answer.headers += "Location: /api/jobs/" + std::to_string(handle.id()) + "\r\n";
  co_return answer;
}

Answer Api::jobs(const ApiCall& call) {
  if (call.method != "GET") refuse_method("GET and POST");
  JobFilter filter;
  const std::string status = call.text("status");
  if (!status.empty()) {
    filter.status = parse_status(status);
    if (!filter.status)
      throw ApiError(400, "parameter status: expected one such as ready, running or succeeded");
  }
  filter.kind = call.text("kind");
  filter.tenant = call.text("tenant");
  filter.after = call.number("after", 0);
  filter.limit = std::min<std::uint64_t>(call.number("limit", most_listed), most_listed);
  return json_answer(200, Json{{"jobs", view_.jobs(filter)}});
}

Answer Api::job(const ApiCall& call, JobId id) {
  const std::optional<JobSummary> summary = scheduler_.summary(id);
  if (!summary) throw ApiError(404, "no job " + std::to_string(id) + " is live or remembered");
  if (call.method == "GET") return json_answer(200, job_json(scheduler_, *summary));
  if (call.method != "DELETE") refuse_method("GET and DELETE");
  if (!scheduler_.cancel(id))
    throw ApiError(409, std::string("it has ended: ") + bide::to_string(summary->status));
  view_.changed();
  return json_answer(202, job_json(scheduler_, scheduler_.summary(id).value_or(*summary)));
}

Answer Api::dead_letters(const ApiCall& call) {
  const auto all = [this](const std::vector<JobSummary>& letters) {
    Json list = Json::array();
    for (const JobSummary& letter : letters) list.push_back(job_json(scheduler_, letter, Texts::brief));
    return json_answer(200, Json{{"jobs", std::move(list)}});
  };
  if (call.path.size() == 2 && call.method == "GET") return all(scheduler_.dead_letters());
  view_.changed();
  if (call.path.size() == 2 && call.method == "DELETE") return all(scheduler_.drain_dead_letters());
  const std::optional<JobId> id = call.path.size() == 4 ? parse_whole(call.path[2]) : std::nullopt;
  if (!id || call.path[3] != "resubmit" || call.method != "POST")
    throw ApiError(404, "expected GET or DELETE /api/dead-letters, or POST /api/dead-letters/ID/resubmit");
  if (!scheduler_.resubmit(*id)) throw ApiError(404, "no dead letter has the id " + std::to_string(*id));
  return json_answer(202, Json{{"id", *id}});
}

Answer Api::decisions() {
  Json list = Json::array();
  for (const bide::Decision& decision : scheduler_.decisions())
    list.push_back(decision_json(scheduler_, decision));
  return json_answer(200, Json{{"decisions", std::move(list)}});
}

Answer Api::explain(const ApiCall& call) {
  const std::uint64_t earlier = call.number("earlier", 0);
  const std::uint64_t later = call.number("later", 0);
  if (earlier == 0 || later == 0)
    throw ApiError(400, "expected the parameters earlier and later, each the id of a job");
  return json_answer(
      200, Json{{"earlier", earlier}, {"later", later}, {"text", scheduler_.explain(earlier, later)}});
}

Answer Api::recurring(const ApiCall& call) {
  if (call.path.size() == 3 && call.method == "DELETE") {
    if (!scheduler_.stop_recurring(call.path[2])) throw ApiError(404, "nothing that recurs has this name");
    view_.changed();
    return json_answer(200, Json{{"name", call.path[2]}});
  }
  if (call.path.size() != 2) throw ApiError(404, "expected /api/recurring, or DELETE /api/recurring/NAME");
  if (call.method == "POST") {
    bide::Recurring recurring = recurring_from(parse_object(call.body));
    const std::vector<bide::RecurringState> all = scheduler_.recurring();
    if (all.size() >= most_listed) throw ApiError(422, "there are too many that recur already");
    know(recurring.job.kind);
    const std::string name = recurring.name;
    scheduler_.every(std::move(recurring));
    view_.changed();
    for (const bide::RecurringState& state : scheduler_.recurring())
      if (state.recurring.name == name) return json_answer(201, recurring_json(scheduler_, state));
  }
  if (call.method != "GET") refuse_method("GET and POST");
  return json_answer(200, Json{{"recurring", view_.recurring()}});
}

}  // namespace bide_jobs
