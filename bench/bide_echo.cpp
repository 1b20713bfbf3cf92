// The echo server of row F, as short as its peers. Prints its port, and serves until it is killed.

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/tcp.hpp>
#include <bide/executor/scope/task_group.hpp>

namespace {

using namespace bide;

Task<> serve(TcpStream stream) {
  std::array<std::byte, 4096> bytes;
  for (;;) {
    const std::size_t size = co_await stream.read(bytes);
    if (size == 0) co_return;
    co_await stream.write_all(std::span(bytes).first(size));
  }
}

Task<> listen(TaskGroup& connections) {
  TcpListener listener = TcpListener::bind(Address::loopback(0));
  std::printf("%d\n", static_cast<int>(listener.local_address().port()));
  std::fflush(stdout);
  for (;;) {
    TcpStream stream = co_await listener.accept();
    connections.submit(serve(std::move(stream)));
  }
}

Task<> server() { co_await with_task_group(listen); }

}  // namespace

int main() {
  Executor executor;
  executor.submit(server());
  executor.run();
}
