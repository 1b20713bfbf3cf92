#include "report.hpp"

#include <nlohmann/json.hpp>

#include <ostream>
#include <string>

namespace bide_jobs {
namespace {

using Json = nlohmann::ordered_json;

Json tally_json(const char* name, const Tally& tally) {
  Json json;
  json["class"] = name;
  json["jobs"] = tally.job_count;
  json["done"] = tally.done_count;
  json["refused"] = tally.refused_count;
  json["deadlines"] = tally.deadline_count;
  json["missed"] = tally.missed_count;
  json["mean_wait_ns"] = tally.waits.mean.count();
  json["p50_wait_ns"] = tally.waits.p50.count();
  json["p99_wait_ns"] = tally.waits.p99.count();
  json["max_wait_ns"] = tally.waits.max.count();
  return json;
}

Json refusals_json(const Workload& workload, const History& history) {
  Json refusals = Json::array();
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    if (history.fates[i].end == Fate::End::done) continue;
    const Job& job = workload.jobs[i];
    Json refusal;
    refusal["line"] = job.line;
    refusal["job"] = job.name;
    refusal["at_ns"] = job.submit.count();
    refusal["slots"] = job.slots;
    refusal["reason"] = to_string(history.fates[i].end);
    refusals.push_back(std::move(refusal));
  }
  return refusals;
}

Json run_json(const Workload& workload, const Run& run) {
  const Statistics& statistics = run.statistics;
  Json json;
  json["source"] = workload.source;
  json["policy"] = to_string(run.options.policy);
  json["workers"] = run.options.workers;
  json["capacity"] = run.options.capacity;
  json["skipped_unknown_time"] = workload.unknown_time_count;
  json["skipped_partial_execution"] = workload.partial_execution_count;
  json["total"] = tally_json("all", statistics.all);
  json["classes"] = Json::array();
  for (Priority priority : {Priority::critical, Priority::high, Priority::normal, Priority::low}) {
    json["classes"].push_back(
        tally_json(to_string(priority), statistics.by_class[static_cast<std::size_t>(priority)]));
  }
  json["utilisation_permille"] = statistics.utilisation_permille;
  json["makespan_ns"] = statistics.makespan.count();
  json["wall_microseconds"] = run.wall_time.count() / 1000;
  json["refusals"] = refusals_json(workload, run.history);
  return json;
}

/// Names come from a file, so bytes that are no UTF-8 become the replacement character instead of an error.
void write(std::ostream& out, const Json& json) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace

void write_json(std::ostream& out, const Workload& workload, const Run& run) {
  write(out, run_json(workload, run));
}

void write_json(std::ostream& out, const Workload& workload, const std::vector<Run>& runs) {
  Json all = Json::array();
  for (const Run& run : runs) all.push_back(run_json(workload, run));
  write(out, all);
}

}  // namespace bide_jobs
