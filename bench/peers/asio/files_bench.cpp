// Asio's files, which only its io_uring back end has: row H.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <asio.hpp>

#include <bide/bench/cached_file.hpp>

namespace {

using namespace bide::bench;

asio::awaitable<void> read_blocks(asio::random_access_file& file, std::int64_t count) {
  std::vector<std::byte> memory(block_bytes);
  for (std::int64_t read = 0; read < count; ++read) {
    const std::size_t came =
        co_await file.async_read_some_at(offset_of(read), asio::buffer(memory), asio::use_awaitable);
    if (came != block_bytes) std::abort();
  }
}

void H_read(benchmark::State& state) {
  const CachedFile cached;
  asio::io_context context(1);
  asio::random_access_file file(context, cached.path(), asio::file_base::read_only);
  const std::int64_t depth = state.range(0);
  while (state.KeepRunningBatch(reads_in_all)) {
    for (std::int64_t reader = 0; reader < depth; ++reader) {
      asio::co_spawn(context, read_blocks(file, reads_in_all / depth), asio::detached);
    }
    context.restart();
    context.run();
  }
}

BENCHMARK(H_read)->Arg(1)->Arg(32);

}  // namespace
