// An echo server on libuv. Prints its port, and serves until it is killed.

#include <uv.h>

#include <netinet/in.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct Connection {
  uv_tcp_t stream;
  char bytes[4096];
};

Connection& connection_of(void* handle) {
  return *static_cast<Connection*>(static_cast<uv_handle_t*>(handle)->data);
}

void give_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
  Connection& connection = connection_of(handle);
  *buffer = uv_buf_init(connection.bytes, sizeof connection.bytes);
}

void came(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
  Connection& connection = connection_of(stream);
  if (size < 0) {
    return uv_close(reinterpret_cast<uv_handle_t*>(stream),
                    [](uv_handle_t* handle) { delete &connection_of(handle); });
  }
  uv_buf_t answer = uv_buf_init(buffer->base, static_cast<unsigned>(size));
  // Directly where the socket takes it, as libuv's own documentation proposes for small answers.
  if (uv_try_write(stream, &answer, 1) == size) return;
  std::abort();
}

void accept_one(uv_stream_t* listener, int status) {
  if (status < 0) return;
  auto* const connection = new Connection();
  uv_tcp_init(listener->loop, &connection->stream);
  connection->stream.data = connection;
  auto* const stream = reinterpret_cast<uv_stream_t*>(&connection->stream);
  if (uv_accept(listener, stream) != 0) std::abort();
  uv_tcp_nodelay(&connection->stream, 1);
  uv_read_start(stream, give_buffer, came);
}

}  // namespace

int main() {
  uv_loop_t* const loop = uv_default_loop();
  uv_tcp_t listener;
  uv_tcp_init(loop, &listener);
  sockaddr_in address{};
  uv_ip4_addr("127.0.0.1", 0, &address);
  if (uv_tcp_bind(&listener, reinterpret_cast<sockaddr*>(&address), 0) != 0) return 1;
  if (uv_listen(reinterpret_cast<uv_stream_t*>(&listener), 4096, accept_one) != 0) return 1;
  int length = sizeof address;
  uv_tcp_getsockname(&listener, reinterpret_cast<sockaddr*>(&address), &length);
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return uv_run(loop, UV_RUN_DEFAULT);
}
