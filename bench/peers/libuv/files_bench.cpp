// libuv's file reads, which its pool of OS threads makes: row H. CPU time is that of the process, since the pool does
// the work.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include <bide/bench/cached_file.hpp>

namespace {

using namespace bide::bench;

struct Reads {
  uv_loop_t* loop;
  int descriptor;
  std::int64_t started = 0;
};

struct Reader {
  Reads* reads;
  uv_fs_t request;
  std::vector<char> memory = std::vector<char>(block_bytes);

  void next() {
    if (reads->started == reads_in_all) return;
    uv_buf_t buffer = uv_buf_init(memory.data(), block_bytes);
    request.data = this;
    const auto offset = static_cast<std::int64_t>(offset_of(reads->started++));
    uv_fs_read(reads->loop, &request, reads->descriptor, &buffer, 1, offset, [](uv_fs_t* done) {
      if (done->result != static_cast<ssize_t>(block_bytes)) std::abort();
      uv_fs_req_cleanup(done);
      static_cast<Reader*>(done->data)->next();
    });
  }
};

void H_read(benchmark::State& state) {
  const CachedFile file;
  uv_loop_t loop;
  uv_loop_init(&loop);
  const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  while (state.KeepRunningBatch(reads_in_all)) {
    Reads reads{&loop, descriptor};
    std::vector<Reader> readers(static_cast<std::size_t>(state.range(0)));
    for (Reader& reader : readers) {
      reader.reads = &reads;
      reader.next();
    }
    uv_run(&loop, UV_RUN_DEFAULT);
  }
  ::close(descriptor);
  uv_loop_close(&loop);
}

BENCHMARK(H_read)->Arg(1)->Arg(32)->MeasureProcessCPUTime();

}  // namespace
