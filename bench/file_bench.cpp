// What a read of a file costs: 4 KiB at a time from the page cache, so many in flight (H). Figures are CPU time of this
// OS thread, for one read. `H_read_raw` and `H_pread` do the same by hand.
//
// Run: file_bench --benchmark_enable_random_interleaving --benchmark_repetitions=9 --benchmark_report_aggregates_only

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <bide/bench/cached_file.hpp>
#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/io/file.hpp>
#include <bide/executor/io/registered_memory.hpp>

namespace {

using namespace bide;

using bench::block_bytes;
using bench::CachedFile;
using bench::offset_of;
using bench::reads_in_all;

Task<> read_blocks(File& file, std::int64_t count, std::span<std::byte> into) {
  for (std::int64_t read = 0; read < count; ++read) {
    const std::size_t came = co_await file.read_at(offset_of(read), into);
    if (came != block_bytes) std::abort();
  }
}

Task<> read_all(std::string path, std::int64_t depth, std::span<std::byte> memory) {
  File file = co_await File::open(path, OpenMode::read);
  std::vector<Handle<>> readers;
  for (std::int64_t reader = 0; reader < depth; ++reader) {
    const auto place = static_cast<std::size_t>(reader) * block_bytes;
    readers.push_back(submit(read_blocks(file, reads_in_all / depth, memory.subspan(place, block_bytes))));
  }
  for (Handle<>& reader : readers) co_await reader;
  co_await file.close();
}

enum class Memory : std::uint8_t { plain, registered };

void read_on(benchmark::State& state, DriverOptions::Choice choice, Memory kind) {
  const CachedFile file;
  std::vector<std::byte> memory(static_cast<std::size_t>(state.range(0)) * block_bytes);
  DriverOptions options;
  options.choice = choice;
  Executor executor({.io = options});
  std::optional<RegisteredMemory> registered;
  if (kind == Memory::registered) registered.emplace(executor, memory);
  while (state.KeepRunningBatch(reads_in_all)) {
    executor.submit(read_all(file.path(), state.range(0), memory));
    executor.run();
  }
}

void H_read(benchmark::State& state) { read_on(state, DriverOptions::Choice::uring, Memory::plain); }
void H_read_registered(benchmark::State& state) {
  read_on(state, DriverOptions::Choice::uring, Memory::registered);
}
void H_read_epoll(benchmark::State& state) { read_on(state, DriverOptions::Choice::epoll, Memory::plain); }

void H_read_raw(benchmark::State& state) {
  const CachedFile file;
  const auto depth = static_cast<unsigned>(state.range(0));
  const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<std::byte> memory(depth * block_bytes);
  io_uring ring{};
  if (io_uring_queue_init(64, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) != 0) return;
  io_uring_register_ring_fd(&ring);
  while (state.KeepRunningBatch(reads_in_all)) {
    std::int64_t started = 0;
    std::int64_t ended = 0;
    const auto start = [&](unsigned slot) {
      io_uring_sqe* const request = io_uring_get_sqe(&ring);
      io_uring_prep_read(request, descriptor, memory.data() + slot * block_bytes, block_bytes,
                         offset_of(started++));
      request->user_data = slot;
    };
    for (unsigned slot = 0; slot < depth; ++slot) start(slot);
    while (ended < reads_in_all) {
      io_uring_submit_and_wait(&ring, 1);
      io_uring_cqe* answers[64];
      const unsigned count = io_uring_peek_batch_cqe(&ring, answers, 64);
      for (unsigned answer = 0; answer < count; ++answer) {
        const auto slot = static_cast<unsigned>(answers[answer]->user_data);
        if (answers[answer]->res != static_cast<int>(block_bytes)) std::abort();
        ++ended;
        if (started < reads_in_all) start(slot);
      }
      io_uring_cq_advance(&ring, count);
    }
  }
  io_uring_queue_exit(&ring);
  ::close(descriptor);
}

void H_pread(benchmark::State& state) {
  const CachedFile file;
  const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<std::byte> memory(block_bytes);
  while (state.KeepRunningBatch(reads_in_all)) {
    for (std::int64_t read = 0; read < reads_in_all; ++read) {
      if (::pread(descriptor, memory.data(), block_bytes, static_cast<off_t>(offset_of(read))) !=
          static_cast<ssize_t>(block_bytes))
        std::abort();
    }
  }
  ::close(descriptor);
}

BENCHMARK(H_read)->Arg(1)->Arg(32);
BENCHMARK(H_read_registered)->Arg(1)->Arg(32);
BENCHMARK(H_read_epoll)->Arg(1)->Arg(32);
BENCHMARK(H_read_raw)->Arg(1)->Arg(32);
BENCHMARK(H_pread);

}  // namespace
