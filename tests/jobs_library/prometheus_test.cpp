#include <cstdint>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/job_metrics.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  std::string value;
};

struct Scrape {
  std::map<std::string, std::string> types;
  std::vector<Sample> samples;

  std::string value(const std::string& name, const std::map<std::string, std::string>& labels) const {
    for (const Sample& sample : samples) {
      if (sample.name == name && sample.labels == labels) return sample.value;
    }
    return "none";
  }
};

std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
    } else {
      ++i;
      plain += text[i] == 'n' ? '\n' : text[i];
    }
  }
  return plain;
}

/// What a scraper would make of the text; throws for what it would refuse.
Scrape parse(const std::string& text) {
  static const std::regex comment(R"(# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*))");
  static const std::regex metric(R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (-?[0-9]+(\.[0-9]+)?))");
  static const std::regex label(R"rx(([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(,|$))rx");
  if (!text.ends_with('\n')) throw std::runtime_error("the last line does not end");
  Scrape scrape;
  std::istringstream lines(text);
  std::set<std::string> finished;
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, comment)) {
      if (match[1] == "HELP") {
        if (!finished.insert(match[2]).second) throw std::runtime_error("a family comes twice: " + line);
        family = match[2];
      } else {
        if (match[2] != family) throw std::runtime_error("the type of another family: " + line);
        scrape.types[family] = match[3];
      }
      continue;
    }
    if (!std::regex_match(line, match, metric)) throw std::runtime_error("not a sample: " + line);
    Sample sample{match[1], {}, match[4]};
    if (!sample.name.starts_with(family)) throw std::runtime_error("outside its family: " + line);
    std::string rest = match[3];
    while (!rest.empty()) {
      std::smatch one;
      if (!std::regex_search(rest, one, label, std::regex_constants::match_continuous))
        throw std::runtime_error("not a label: " + rest);
      sample.labels[one[1]] = unescaped(one[2]);
      rest = one.suffix();
    }
    scrape.samples.push_back(sample);
  }
  return scrape;
}

}  // namespace

TEST_CASE("PrometheusText: labels and help are escaped, durations are exact seconds") {
  PrometheusText text;
  text.family("lamp_on", PrometheusText::Type::gauge, "a\\b\nc \"d\"");
  text.sample({{"room", "quo\"te\\back\nline"}, {"wall", ""}}, std::uint64_t{3});
  text.sample({}, 1500ms);
  text.sample({}, -1ns);
  text.sample({}, Duration::min());
  CHECK(text.text() ==
        "# HELP lamp_on a\\\\b\\nc \"d\"\n"
        "# TYPE lamp_on gauge\n"
        "lamp_on{room=\"quo\\\"te\\\\back\\nline\",wall=\"\"} 3\n"
        "lamp_on 1.5\n"
        "lamp_on -0.000000001\n"
        "lamp_on -9223372036.854775808\n");
  CHECK(parse(text.text()).samples[0].labels["room"] == "quo\"te\\back\nline");
}

TEST_CASE("PrometheusText: the buckets of a histogram add up and end in all") {
  DurationHistogram histogram;
  for (const Duration duration : std::initializer_list<Duration>{1us, 1s, 2s, 100h}) histogram.add(duration);
  PrometheusText text;
  text.family("wait_seconds", PrometheusText::Type::histogram, "Wait.");
  text.sample({{"pool", "a"}}, histogram);
  const Scrape scrape = parse(std::regex_replace(text.text(), std::regex("\\+Inf"), "999"));
  std::uint64_t last = 0;
  for (const Sample& sample : scrape.samples) {
    if (sample.name != "wait_seconds_bucket") continue;
    CHECK(std::stoull(sample.value) >= last);
    last = std::stoull(sample.value);
  }
  CHECK(scrape.value("wait_seconds_bucket", {{"pool", "a"}, {"le", "0.000262143"}}) == "1");
  CHECK(scrape.value("wait_seconds_bucket", {{"pool", "a"}, {"le", "1.073741823"}}) == "2");
  CHECK(scrape.value("wait_seconds_bucket", {{"pool", "a"}, {"le", "999"}}) == "4");
  CHECK(scrape.value("wait_seconds_sum", {{"pool", "a"}}) == "360003.000001");
  CHECK(scrape.value("wait_seconds_count", {{"pool", "a"}}) == "4");
}

TEST_CASE("append_metrics: every family has a sample for each pool and class, and no sample comes twice") {
  JobStatistics one;
  JobStatistics other;
  const Instant deadline(4s);
  one.submitted(Priority::high, Instant(0s));
  one.started(Priority::high, 3s, Instant(3s));
  one.ran(Priority::high, 2s, Instant(5s));
  one.ended(Priority::high, JobStatus::succeeded, &deadline, Instant(5s));
  PoolGauges gauges{.workers = 7, .running = 2};
  gauges.longest_wait[static_cast<std::size_t>(Priority::low)] = 90s;
  const std::vector<PoolMetrics> pools = {{"main", &one, gauges}, {"a \"b\"", &other, {}}};
  PrometheusText text;
  append_metrics(text, pools, Instant(6s));
  const Scrape scrape = parse(std::regex_replace(text.text(), std::regex("\\+Inf"), "999"));

  CHECK(scrape.types.size() == 15);
  std::set<std::pair<std::string, std::map<std::string, std::string>>> seen;
  for (const Sample& sample : scrape.samples) CHECK(seen.emplace(sample.name, sample.labels).second);
  for (const auto& [name, type] : scrape.types) CHECK((name.ends_with("_total") == (type == "counter")));
  CHECK(scrape.value("bide_jobs_submitted_total", {{"pool", "main"}, {"class", "high"}}) == "1");
  CHECK(scrape.value("bide_jobs_submitted_total", {{"pool", "a \"b\""}, {"class", "low"}}) == "0");
  CHECK(scrape.value("bide_jobs_ended_total",
                     {{"pool", "main"}, {"class", "high"}, {"status", "succeeded"}}) == "1");
  CHECK(scrape.value("bide_jobs_missed_deadlines_total", {{"pool", "main"}, {"class", "high"}}) == "1");
  CHECK(scrape.value("bide_jobs_lateness_seconds_sum", {{"pool", "main"}, {"class", "high"}}) == "1");
  CHECK(scrape.value("bide_jobs_longest_wait_seconds", {{"pool", "main"}, {"class", "low"}}) == "90");
  CHECK(scrape.value("bide_jobs_recent_wait_seconds",
                     {{"pool", "main"}, {"class", "high"}, {"percentile", "99"}}) == "3");
  CHECK(scrape.value("bide_jobs_workers", {{"pool", "main"}}) == "7");
}
