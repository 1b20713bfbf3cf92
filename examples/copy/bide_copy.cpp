// bide-copy: copies a file, many blocks at a time. Try: bide-copy large.iso /mnt/large.iso

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/signals.hpp>
#include <bide/executor/scope/task_group.hpp>

#include "copy.hpp"

namespace {

using namespace bide;

constexpr int interrupted_exit_code = 130;

/// On a terminal, a line that is written over.
class ProgressBar {
 public:
  void show(std::uint64_t done, std::uint64_t size) {
    const auto now = std::chrono::steady_clock::now();
    if (now - began_ < std::chrono::seconds(1) || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    const int percent = size == 0 ? 100 : static_cast<int>(done * 100 / size);
    const std::string bar(static_cast<std::size_t>(percent) / 2, '#');
    std::fprintf(stderr, "\r[%-50s] %3d %% of %llu MiB", bar.c_str(), percent,
                 static_cast<unsigned long long>(size >> 20U));
    std::fflush(stderr);
  }
  ~ProgressBar() {
    if (shown_ != decltype(shown_)()) std::fputc('\n', stderr);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_{};
};

struct Outcome {
  std::optional<bide_copy::Copied> copied;
  int signal = 0;
};

Task<> copy_in_group(TaskGroup& group, std::string from, std::string to, bide_copy::CopyOptions options,
                     Outcome& outcome) {
  const auto wait_for_signal = [](TaskGroup& all, Outcome& result) -> Task<> {
    SignalSet signals({SIGINT, SIGTERM});
    result.signal = co_await signals.next();
    all.cancel();
  };
  Handle<> waiter = group.submit({.name = "signals"}, wait_for_signal, std::ref(group), std::ref(outcome));
  outcome.copied = co_await bide_copy::copy_file(std::move(from), std::move(to), std::move(options));
  waiter.cancel();
}

int copy(const std::string& from, const std::string& to, bide_copy::CopyOptions options) {
  std::optional<ProgressBar> bar;
  if (::isatty(STDERR_FILENO) != 0) {
    bar.emplace();
    options.progress = [&bar](std::uint64_t done, std::uint64_t size) { bar->show(done, size); };
  }
  Outcome outcome;
  Executor executor;
  const auto run = [](std::string source, std::string target, bide_copy::CopyOptions how,
                      Outcome& result) -> Task<> {
    co_await with_task_group(copy_in_group, std::move(source), std::move(target), std::move(how),
                             std::ref(result));
  };
  executor.submit({.name = "copy"}, run, from, to, std::move(options), std::ref(outcome));
  executor.run();
  bar.reset();
  if (!outcome.copied) {
    std::fprintf(stderr, "bide-copy: ended by signal %d; the same command goes on from here\n",
                 outcome.signal);
    return interrupted_exit_code;
  }
  if (outcome.copied->resumed > 0) {
    std::fprintf(stderr, "bide-copy: %llu of %llu bytes were there from an earlier run\n",
                 static_cast<unsigned long long>(outcome.copied->resumed),
                 static_cast<unsigned long long>(outcome.copied->bytes));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Copies a file, many blocks at a time. The target is the old one, or none, until it is the new one, "
      "whole and\n"
      "on the disk; a copy that was killed goes on where it was.",
      "bide-copy");
  app.footer(
      "Exit status: 0 copied, 1 it failed, 2 an option or a file can't be used, 130 ended by SIGINT or "
      "SIGTERM.");
  std::string from;
  std::string to;
  bide_copy::CopyOptions options;
  bool no_sync = false;
  bool restart = false;
  bool by_blocks = false;
  app.add_option("FROM", from, "File to copy")->required();
  app.add_option("TO", to, "Where to, or a directory to put it in")->required();
  app.add_option("--depth", options.depth, "Blocks in flight")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{1024}));
  app.add_option("--block", options.block_bytes, "Bytes of a block")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{512}, std::size_t{64} << 20U));
  app.add_flag("--by-blocks", by_blocks, "Read and write blocks, also where the kernel would copy by itself");
  app.add_flag("--no-sync", no_sync, "Do not wait for the disk: after a power cut the target may be torn");
  app.add_flag("--restart", restart, "Begin anew, whatever an earlier run has copied");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "bide-copy: %s\n", error.what());
    return 2;
  }
  if (by_blocks) options.way = bide_copy::CopyOptions::Way::blocks;
  if (no_sync) options.sync = bide_copy::CopyOptions::Sync::no;
  if (restart) options.resume = bide_copy::CopyOptions::Resume::no;
  try {
    return copy(from, to, std::move(options));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "bide-copy: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bide-copy: %s\n", error.what());
    return 1;
  }
}
