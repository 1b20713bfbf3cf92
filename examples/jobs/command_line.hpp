#pragma once

#include "policy.hpp"
#include "workload_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bide_jobs {

enum class Output : std::uint8_t { table, json, trace, explanation, comparison, comparison_json, real };

/// What the user asked for: a replay, or `--real`.
struct Command {
  std::string file;
  ReadOptions reading;
  Policy policy = Policy::urgency;
  std::optional<std::int64_t> workers;  // none: as many as the widest job needs
  std::size_t capacity = 256;
  Output output = Output::table;
  std::string explain_first;
  std::string explain_second;
  std::string database;  // of --real; empty: none
  std::string timeline;  // the file for a page of it; empty: none
};

inline constexpr std::int64_t most_workers = 1'000'000'000;
inline constexpr std::int64_t most_real_workers = 10'000;

/// Nothing when the user only wanted `--help`, which is then on stdout.
/// Throws: InputError for what can't be understood.
std::optional<Command> parse_command_line(int argc, const char* const* argv);

}  // namespace bide_jobs
