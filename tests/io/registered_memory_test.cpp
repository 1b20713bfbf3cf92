#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/io/file.hpp>
#include <bide/executor/io/registered_memory.hpp>

#include "temporary_folder.hpp"

using namespace bide;

namespace {

constexpr std::size_t stretch_bytes = 16 * 4096;

/// Writes and reads back in pieces that lie within `memory`. Returns: whether what came was what went.
Task<bool> writes_and_reads(std::string path, std::span<std::byte> memory) {
  File file = co_await File::open(path, OpenMode::read_write | OpenMode::create);
  for (std::size_t byte = 0; byte < memory.size(); ++byte) memory[byte] = static_cast<std::byte>(byte % 251);
  co_await file.write_all_at(0, memory.first(memory.size() / 2));
  const std::span<std::byte> back = memory.subspan(memory.size() / 2);
  const std::size_t came = co_await file.read_all_at(0, back);
  bool same = came == back.size();
  for (std::size_t byte = 0; byte < back.size(); ++byte) same = same && back[byte] == memory[byte];
  co_await file.close();
  co_return same;
}

bool works_on(Executor& executor, const std::string& path, std::span<std::byte> memory) {
  Handle<bool> same = executor.submit(writes_and_reads(path, memory));
  executor.run();
  return same.take();
}

}  // namespace

TEST_CASE("RegisteredMemory: reads and writes within it are told so to the kernel, and give the same") {
  const test::TemporaryFolder folder;
  std::vector<std::byte> memory(stretch_bytes);
  Executor executor;
  const bool uring = driver_of(executor).name() == "io_uring";
  const RegisteredMemory registered(executor, memory);
  CHECK(registered.effective() == uring);
  CHECK(works_on(executor, folder / "file", memory));
  CHECK((executor.driver()->statistics().fixed > 0) == uring);
}

TEST_CASE("RegisteredMemory: what lies outside, or across its edge, goes the usual way") {
  const test::TemporaryFolder folder;
  std::vector<std::byte> memory(2 * stretch_bytes);
  Executor executor;
  const RegisteredMemory registered(executor, std::span(memory).first(10));
  CHECK(works_on(executor, folder / "file", memory));
  CHECK(executor.driver()->statistics().fixed == 0);
}

TEST_CASE("RegisteredMemory: when it goes, reads and writes go on the usual way") {
  const test::TemporaryFolder folder;
  std::vector<std::byte> memory(stretch_bytes);
  Executor executor;
  for (int round = 0; round < 50; ++round) {  // more than there are slots
    const RegisteredMemory registered(executor, memory);
    CHECK(registered.effective() == (executor.driver()->name() == "io_uring"));
  }
  CHECK(works_on(executor, folder / "file", memory));
  CHECK(executor.driver()->statistics().fixed == 0);
}

TEST_CASE("RegisteredMemory: more stretches than the driver has slots for have no effect") {
  const test::TemporaryFolder folder;
  std::vector<std::vector<std::byte>> memory(20, std::vector<std::byte>(stretch_bytes));
  Executor executor;
  std::vector<std::unique_ptr<RegisteredMemory>> registered;
  std::size_t effective = 0;
  for (auto& stretch : memory) {
    registered.push_back(std::make_unique<RegisteredMemory>(executor, stretch));
    effective += registered.back()->effective() ? 1 : 0;
  }
  CHECK(effective == (executor.driver()->name() == "io_uring" ? 16U : 0U));
  CHECK(works_on(executor, folder / "file", memory.back()));
}

TEST_CASE("RegisteredMemory: may outlive the executor") {
  std::vector<std::byte> memory(stretch_bytes);
  std::optional<Executor> executor(std::in_place);
  const RegisteredMemory registered(*executor, memory);
  executor.reset();
  CHECK(memory.size() == stretch_bytes);
}
