#include "timeline.hpp"

#include "input_error.hpp"
#include "lanes.hpp"
#include "pages/pages.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bide_jobs {
namespace {

using Json = nlohmann::ordered_json;

/// Columns, not rows: the names of the fields are said once.
Json jobs_json(const Workload& workload) {
  Json names = Json::array();
  Json classes = Json::array();
  Json submits = Json::array();
  Json deadlines = Json::array();
  Json slots = Json::array();
  Json lines = Json::array();
  for (const Job& job : workload.jobs) {
    names.push_back(job.name);
    classes.push_back(static_cast<int>(job.priority));
    submits.push_back(job.submit.count());
    deadlines.push_back(job.deadline ? Json(job.deadline->count()) : Json());
    slots.push_back(job.slots);
    lines.push_back(job.line);
  }
  return {{"name", std::move(names)},         {"class", std::move(classes)}, {"submit", std::move(submits)},
          {"deadline", std::move(deadlines)}, {"slots", std::move(slots)},   {"line", std::move(lines)}};
}

/// First, count, first, count.
Json lanes_json(const std::vector<LaneRange>& ranges) {
  Json json = Json::array();
  for (const LaneRange& range : ranges) {
    json.push_back(range.first);
    json.push_back(range.count);
  }
  return json;
}

Json run_json(const Workload& workload, const Run& run) {
  const std::vector<std::vector<LaneRange>> lanes = assign_lanes(workload, run.history);
  Json starts = Json::array();
  Json ends = Json::array();
  Json places = Json::array();
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const Fate& fate = run.history.fates[i];
    const bool done = fate.end == Fate::End::done;
    starts.push_back(done ? Json(fate.started.count()) : Json(to_string(fate.end)));
    ends.push_back(fate.ended.count());
    places.push_back(lanes_json(lanes[i]));
  }
  const Tally& all = run.statistics.all;
  Json json;
  json["policy"] = to_string(run.options.policy);
  json["workers"] = run.options.workers;
  json["makespan"] = run.statistics.makespan.count();
  json["utilisation_permille"] = run.statistics.utilisation_permille;
  json["done"] = all.done_count;
  json["refused"] = all.refused_count;
  json["deadlines"] = all.deadline_count;
  json["missed"] = all.missed_count;
  json["start"] = std::move(starts);
  json["end"] = std::move(ends);
  json["lanes"] = std::move(places);
  return json;
}

/// As the content of a script element, which ends at the first `</`.
std::string script_text(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

void write_timeline(std::ostream& out, const Workload& workload, const std::vector<Run>& runs) {
  Json json;
  json["source"] = workload.source;
  json["jobs"] = jobs_json(workload);
  json["runs"] = Json::array();
  for (const Run& run : runs) json["runs"].push_back(run_json(workload, run));

  constexpr std::string_view place = "{\"data\":null}";
  const std::string_view page = timeline_page();
  const std::size_t at = page.find(place);
  out << page.substr(0, at) << script_text(json) << page.substr(at + place.size());
}

void write_timeline_file(const std::string& path, const Workload& workload, const std::vector<Run>& runs) {
  std::ofstream file(path, std::ios::binary);
  if (!file) throw InputError("--timeline", path + " can't be opened: " + std::strerror(errno));
  write_timeline(file, workload, runs);
  file.close();
  if (!file) throw std::runtime_error(path + " can't be written");
}

}  // namespace bide_jobs
