#pragma once

#include <CLI/CLI.hpp>

#include <functional>

#include "server.hpp"

namespace bide_serving {

/// --bind, --connections, --drain, and `port` ("--port").
void add_options(CLI::App& app, ServerOptions& options, const char* port);

/// Parses, then runs `program()`. Returns the exit code: 2 and a message on stderr where an option, or an address, a
/// file or a port that it names, can't be used; 1 where the run failed.
int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& program);

}  // namespace bide_serving
