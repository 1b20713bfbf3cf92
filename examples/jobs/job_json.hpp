#pragma once

#include <bide/executor/jobs/decision_log.hpp>
#include <bide/executor/jobs/job_scheduler.hpp>

#include <nlohmann/json.hpp>

namespace bide_jobs {

using Json = nlohmann::ordered_json;

/// `brief`: of command and output the first 200 bytes, for lists.
enum class Texts { whole, brief };

/// Times are milliseconds since 1970, lengths of time milliseconds: both fit into a browser's numbers.
Json job_json(const bide::JobScheduler& scheduler, const bide::JobSummary& summary,
              Texts texts = Texts::whole);
Json decision_json(const bide::JobScheduler& scheduler, const bide::Decision& decision);
/// As it was asked for, with all that it may leave out; `next`: when it comes again.
Json recurring_json(const bide::JobScheduler& scheduler, const bide::RecurringState& state,
                    Texts texts = Texts::whole);
Json pool_json(const bide::PoolState& pool);

/// On one line. Bytes that are no UTF-8 become the replacement character.
std::string json_line(const Json& json);

}  // namespace bide_jobs
