#include "serve.hpp"

#include "api.hpp"
#include "http_front.hpp"
#include "input_error.hpp"
#include "loopback.hpp"
#include "scheduler_jobs.hpp"
#include "worker.hpp"
#include "workload_reader.hpp"

#include "../serving/server.hpp"

#include <bide/executor/executor.hpp>
#include <bide/executor/io/address.hpp>
#include <bide/executor/scope/task_group.hpp>

#include <stdexcept>
#include <system_error>
#include <utility>

namespace bide_jobs {

using namespace bide;

namespace {

bide_serving::ServerOptions server_options(const ServeOptions& options) {
  bide_serving::ServerOptions server;
  server.bind = options.bind == "localhost" ? "127.0.0.1" : options.bind;
  server.port = options.port;
  server.connections = options.connections;
  server.drain = options.drain;
  server.idle_bound = std::chrono::milliseconds(250);
  return server;
}

/// The worker, its API and its listener.
class Service {
 public:
  explicit Service(const ServeOptions& options)
      : workers_(options.workers),
        worker_({.workers = options.workers,
                 .database = options.database,
                 .queue = options.queue,
                 .tenant_weights = options.tenant_weights}),
        api_(worker_, {.token = options.token, .only_local = is_loopback(options.bind)}),
        server_(server_options(options)),
        front_(
            limits(options), server_,
            [this](const bide_http::Request& request) { return api_.answer(request); },
            [](int status, const std::string& text) { return Api::error(status, text); }) {
    if (!options.file.empty()) {
      ReadOptions reading;
      reading.durations = Durations::optional;
      file_ = read_workload(options.file, reading);
      require_commands(file_);
      SchedulerJobs(file_, Instant(), options.workers).add_resources(worker_.scheduler());
    }
  }

  Task<> run();

 private:
  static HttpFront::Limits limits(const ServeOptions& options) {
    HttpFront::Limits limits;
    limits.request = options.request_timeout;
    return limits;
  }
  Task<> listen();
  Task<> bring_in(TaskGroup& group);
  Task<> watch_store();

  std::size_t workers_;
  Worker worker_;
  Api api_;
  bide_serving::Server server_;
  HttpFront front_;
  Workload file_;
};

Task<> Service::listen() {
  const auto serve = [this](TcpStream& stream, bide_serving::Server::Connection& connection) {
    return front_.serve(stream, connection);
  };
  bide_serving::Server::Serve function = serve;
  co_await server_.run("bide-jobs", std::move(function));
}

/// The jobs of the file, while the server runs.
Task<> Service::bring_in(TaskGroup& group) {
  const SchedulerJobs jobs(file_, now(), workers_);
  for (std::size_t i = 0; i < file_.jobs.size(); ++i) worker_.know(jobs.kind(i));
  const auto ignore = [](std::size_t, const JobHandle&) {};
  group.submit(submit_all(jobs, file_, worker_.scheduler(), ignore), {.name = "jobs of the file"});
  group.submit(watch_store(), {.name = "store"});
  co_await listen();
  group.cancel();
}

/// A store that has failed takes nothing any more: who starts this program again has lost nothing.
Task<> Service::watch_store() {
  for (;;) {
    co_await Sleep(std::chrono::seconds(1));
    co_await worker_.scheduler().kept();
  }
}

Task<> Service::run() {
  Task<> run = worker_.run([this](TaskGroup& group) { return bring_in(group); });
  co_await std::move(run);
}

}  // namespace

int serve(const ServeOptions& options) {
  if (!is_loopback(options.bind) && options.token.empty())
    throw InputError("--bind", "expected a --token as well: others can reach " + options.bind);
  Executor executor({.time = TimeMode::real_time});
  Service service(options);
  executor.submit(service.run(), {.name = "bide-jobs"});
  executor.run();
  return 0;
}

}  // namespace bide_jobs
