// An echo server of Asio's coroutines, on either of its back ends. Prints its port, and serves until it is killed.

#include <array>
#include <cstddef>
#include <cstdio>
#include <system_error>
#include <utility>

#include <asio.hpp>

namespace {

using asio::ip::tcp;

asio::awaitable<void> serve(tcp::socket socket) {
  socket.set_option(tcp::no_delay(true));
  std::array<std::byte, 4096> bytes;
  try {
    for (;;) {
      const std::size_t size = co_await socket.async_read_some(asio::buffer(bytes), asio::use_awaitable);
      co_await asio::async_write(socket, asio::buffer(bytes, size), asio::use_awaitable);
    }
  } catch (const std::system_error&) {  // its end
  }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve(std::move(socket)), asio::detached);
  }
}

}  // namespace

int main() {
  asio::io_context context(1);
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  acceptor.listen(4096);
  std::printf("%d\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  asio::co_spawn(context, listen(acceptor), asio::detached);
  context.run();
}
