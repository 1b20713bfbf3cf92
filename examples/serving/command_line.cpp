#include "command_line.hpp"

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <system_error>

namespace bide_serving {

void add_options(CLI::App& app, ServerOptions& options, const char* port) {
  app.add_option(port, options.port, "Port to listen on; 0: any free one")->required();
  app.add_option("--bind", options.bind, "Address to listen on")->capture_default_str();
  app.add_option("--connections", options.connections, "Connections at once; more wait their turn")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  app.add_option_function<double>(
         "--drain",
         [&options](const double& seconds) {
           options.drain = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
         },
         "Seconds that open connections have to end after SIGINT or SIGTERM (default 5)")
      ->check(CLI::Range(0.0, 86'400.0));
}

int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& program) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 2;
  }
  try {
    return program();
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 2;
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 1;
  }
}

}  // namespace bide_serving
