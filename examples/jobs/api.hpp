#pragma once

#include "http_front.hpp"
#include "job_json.hpp"
#include "worker.hpp"
#include "worker_view.hpp"

#include "../http/request_parser.hpp"

#include <bide/executor/task.hpp>

#include <string>
#include <string_view>

namespace bide_jobs {

struct ApiCall;

/// The HTTP API of a Worker, and its page.
///
///     GET    /                            the page
///     GET    /metrics                     for Prometheus
///     GET    /api/state                   what the page shows
///     GET    /api/jobs?status=&kind=&tenant=&after=&limit=
///     POST   /api/jobs                    a job: README.md lists the members
///     GET    /api/jobs/ID                 DELETE cancels
///     GET    /api/dead-letters            DELETE forgets all, and gives them
///     POST   /api/dead-letters/ID/resubmit
///     GET    /api/decisions
///     GET    /api/explain?earlier=ID&later=ID
///     GET    /api/recurring               POST one; DELETE /api/recurring/NAME
///
/// An answer is JSON, an error `{"error": "what was expected"}` with its status.
class Api {
 public:
  struct Access {
    std::string token;  // empty: none is asked for
    bool only_local =
        true;  // then a request for another host's name is refused: it came by a page of somebody else
  };

  Api(Worker& worker, Access access);

  bide::Task<Answer> answer(const bide_http::Request& request);
  static Answer error(int status, std::string_view text);

 private:
  bide::Task<Answer> route(const ApiCall& call);
  void check_access(const bide_http::Request& request, const ApiCall& call) const;
  static void check_origin(const bide_http::Request& request, const ApiCall& call);
  bide::Task<Answer> submit(const ApiCall& call);
  Answer jobs(const ApiCall& call);
  Answer job(const ApiCall& call, bide::JobId id);
  Answer dead_letters(const ApiCall& call);
  Answer decisions();
  Answer explain(const ApiCall& call);
  Answer recurring(const ApiCall& call);
  void know(const std::string& kind);

  Worker& worker_;
  bide::JobScheduler& scheduler_;
  Access access_;
  WorkerView view_;
};

}  // namespace bide_jobs
