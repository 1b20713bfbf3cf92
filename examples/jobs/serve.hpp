#pragma once

#include <bide/timers/instant.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace bide_jobs {

struct ServeOptions {
  std::string bind = "127.0.0.1";
  std::uint16_t port = 0;
  std::string token;  // asked for with each request; has to be there where others than this machine can ask
  std::string database;
  std::string file;  // a CSV whose jobs are submitted at the start; empty: none
  std::size_t workers = 4;
  std::size_t queue = 100'000;
  std::map<std::string, std::uint32_t> tenant_weights;  // empty: tenants don't matter
  std::size_t connections = 100;
  std::chrono::milliseconds drain = std::chrono::seconds(5);
  bide::Duration request_timeout = std::chrono::seconds(10);
};

/// Serves a Worker over HTTP until SIGINT or SIGTERM comes; then what runs is killed, and with a database run again by
/// the next process.
///
/// Returns: the program's exit code. Throws: InputError, what can't be used.
int serve(const ServeOptions& options);

}  // namespace bide_jobs
