#include "run_command.hpp"

#include <bide/executor/io/process.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace bide_jobs {

using namespace bide;

void BoundedOutput::add(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t room = std::min(first_bytes - first_.size(), text.size());
  first_ += text.substr(0, room);
  last_ += text.substr(room);
  if (last_.size() < 2 * last_bytes) return;
  left_out_count_ += last_.size() - last_bytes;
  last_.erase(0, last_.size() - last_bytes);
}

std::string BoundedOutput::text() const {
  std::string_view last = last_;
  std::uint64_t left_out = left_out_count_;
  if (last.size() > last_bytes) {
    left_out += last.size() - last_bytes;
    last.remove_prefix(last.size() - last_bytes);
  }
  std::string text = first_;
  if (left_out > 0) text += "[... " + std::to_string(left_out) + " bytes left out ...]";
  text += last;
  return text;
}

namespace {

std::vector<std::string> environment_for(const JobContext& context) {
  std::vector<std::string> variables;
  for (char** variable = ::environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).substr(0, 9) != "BIDE_JOB_") variables.emplace_back(*variable);
  }
  variables.push_back("BIDE_JOB_ID=" + std::to_string(context.id()));
  variables.push_back("BIDE_JOB_ATTEMPT=" + std::to_string(context.attempt()));
  return variables;
}

ChildProcess start_shell(const JobContext& context) {
  const std::vector<std::string> environment = environment_for(context);
  ChildOptions options;
  options.input = ChildOptions::Stream::null;
  options.output = ChildOptions::Stream::pipe;
  options.environment = &environment;
  options.on_cancel = ChildOptions::OnCancel::kill;
  options.group = ChildOptions::Group::own;
  // One pipe for both streams keeps their order.
  return ChildProcess::spawn("/bin/sh", {"-c", "exec 2>&1\n" + context.payload()}, options);
}

Task<> read_all(PipeReader& reader, BoundedOutput& output) {
  std::array<std::byte, 4096> bytes;
  for (;;) {
    const std::size_t count = co_await reader.read(bytes);
    if (count == 0) co_return;
    output.add(std::span<const std::byte>(bytes).first(count));
  }
}

Task<> until_ended(Handle<>& reader) { co_await reader; }

/// The pipe ends with the group, and the group with the shell: so the shell is waited for while another thread reads. Only
/// what has left the group, for a session of its own, may hold the pipe for longer: it is not waited for.
Task<ExitStatus> watch(TaskGroup& readers, ChildProcess& child, BoundedOutput& output) {
  constexpr Duration patience = std::chrono::seconds(1);
  Handle<> reader = readers.submit(read_all(child.output(), output), {.name = "output of a command"});
  const ExitStatus status = co_await child.wait();
  const bool ended = co_await try_timeout(patience, until_ended(reader));
  if (!ended) reader.cancel();
  co_return status;
}

}  // namespace

Task<JobOutcome> run_command(JobContext& context) {
  ChildProcess child;
  std::string failed;
  try {
    child = start_shell(context);
  } catch (const std::system_error& error) {
    failed = error.what();
  }
  if (!failed.empty()) co_return JobOutcome::failure(failed);
  BoundedOutput output;
  const ExitStatus status = co_await with_task_group(watch, std::ref(child), std::ref(output));
  if (status.success()) co_return JobOutcome::success(output.text());
  co_return JobOutcome::retryable(status.to_string() + "\n" + output.text());
}

}  // namespace bide_jobs
