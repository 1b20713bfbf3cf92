// Loads an echo server: each connection keeps one message in flight. Tells, as JSON, the server's CPU time a request,
// the spread of answers over time, and what the load itself cost, so that it is seen where the load is the bottleneck.
//
// Run: echo_load PORT SERVER_PID CONNECTIONS BYTES MILLISECONDS

#include <arpa/inet.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <vector>

namespace {

constexpr std::int64_t warm_up = 200'000'000;  // ns

void expect(bool condition, const char* what) {
  if (condition) return;
  std::perror(what);
  std::exit(1);
}

std::int64_t nanoseconds(clockid_t clock) {
  timespec time{};
  expect(::clock_gettime(clock, &time) == 0, "echo_load: clock_gettime");
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

struct Connection {
  int descriptor = -1;
  std::size_t got = 0;
  std::int64_t asked_at = 0;
};

/// Memory for whichever answer comes next: a receive that stays armed takes a piece of it each time.
class Buffers {
 public:
  static constexpr unsigned short group = 1;

  Buffers(io_uring& ring, std::size_t bytes)
      : piece_bytes_(std::min<std::size_t>(bytes, 16 * 1024)), memory_(count * piece_bytes_) {
    void* const entries = std::aligned_alloc(4096, count * sizeof(io_uring_buf));
    expect(entries != nullptr, "echo_load: memory");
    entries_ = static_cast<io_uring_buf_ring*>(entries);
    io_uring_buf_reg wanted{};
    wanted.ring_addr = reinterpret_cast<std::uintptr_t>(entries);
    wanted.ring_entries = count;
    wanted.bgid = group;
    io_uring_buf_ring_init(entries_);
    expect(io_uring_register_buf_ring(&ring, &wanted, 0) == 0, "echo_load: buffer ring");
    for (unsigned short piece = 0; piece < count; ++piece) give_back(piece);
  }

  void give_back(unsigned short piece) {
    io_uring_buf_ring_add(entries_, memory_.data() + piece * piece_bytes_,
                          static_cast<unsigned>(piece_bytes_), piece, io_uring_buf_ring_mask(count), 0);
    io_uring_buf_ring_advance(entries_, 1);
  }

 private:
  static constexpr unsigned short count = 4096;

  std::size_t piece_bytes_;
  std::vector<char> memory_;
  io_uring_buf_ring* entries_ = nullptr;
};

class Load {
 public:
  Load(unsigned short port, std::size_t connections, std::size_t bytes)
      : message_(bytes, 'x'), connections_(connections) {
    io_uring_params wanted{};
    wanted.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
    wanted.cq_entries = 65536;
    expect(io_uring_queue_init_params(2048, &ring_, &wanted) == 0, "echo_load: io_uring");
    io_uring_register_ring_fd(&ring_);
    buffers_.emplace(ring_, bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (Connection& connection : connections_) {
      connection.descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      expect(connection.descriptor >= 0, "echo_load: socket");
      const auto* const plain = reinterpret_cast<const sockaddr*>(&address);
      expect(::connect(connection.descriptor, plain, sizeof address) == 0, "echo_load: connect");
      const int on = 1;
      ::setsockopt(connection.descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
  }

  void start() {
    now_ = nanoseconds(CLOCK_MONOTONIC);
    for (Connection& connection : connections_) {
      receive(connection);
      ask(connection);
    }
  }

  void run_until(std::int64_t end) {
    while (now_ < end) {
      io_uring_submit_and_wait(&ring_, 1);
      now_ = nanoseconds(CLOCK_MONOTONIC);
      unsigned head = 0;
      unsigned count = 0;
      io_uring_cqe* answer = nullptr;
      io_uring_for_each_cqe(&ring_, head, answer) {
        ++count;
        if (answer->user_data == 0) expect(false, "echo_load: a send failed");
        answered(*reinterpret_cast<Connection*>(static_cast<std::uintptr_t>(answer->user_data)), *answer);
      }
      io_uring_cq_advance(&ring_, count);
    }
  }

  void forget() { latencies_.clear(); }
  std::int64_t now() const { return now_; }
  std::vector<std::int64_t>& latencies() { return latencies_; }

 private:
  io_uring_sqe* request(Connection* connection) {
    io_uring_sqe* request = io_uring_get_sqe(&ring_);
    if (request == nullptr) {
      io_uring_submit(&ring_);
      request = io_uring_get_sqe(&ring_);
    }
    request->user_data = reinterpret_cast<std::uintptr_t>(connection);
    return request;
  }
  void ask(Connection& connection) {
    connection.got = 0;
    connection.asked_at = now_;
    io_uring_sqe* const sent = request(nullptr);
    io_uring_prep_send(sent, connection.descriptor, message_.data(), message_.size(),
                       MSG_NOSIGNAL | MSG_WAITALL);
    sent->user_data = 0;
    sent->flags |= IOSQE_CQE_SKIP_SUCCESS;
  }
  void receive(Connection& connection) {
    io_uring_sqe* const wanted = request(&connection);
    io_uring_prep_recv_multishot(wanted, connection.descriptor, nullptr, 0, 0);
    wanted->flags |= IOSQE_BUFFER_SELECT;
    wanted->buf_group = Buffers::group;
    wanted->user_data = reinterpret_cast<std::uintptr_t>(&connection);
  }
  void answered(Connection& connection, const io_uring_cqe& answer) {
    if ((answer.flags & IORING_CQE_F_MORE) == 0) receive(connection);
    if (answer.res == -ENOBUFS) return;
    expect(answer.res > 0, "echo_load: the server has ended a connection");
    buffers_->give_back(static_cast<unsigned short>(answer.flags >> IORING_CQE_BUFFER_SHIFT));
    connection.got += static_cast<std::size_t>(answer.res);
    if (connection.got < message_.size()) return;
    latencies_.push_back(now_ - connection.asked_at);
    ask(connection);
  }

  io_uring ring_{};
  std::optional<Buffers> buffers_;
  std::vector<char> message_;
  std::vector<Connection> connections_;
  std::vector<std::int64_t> latencies_;
  std::int64_t now_ = 0;
};

std::int64_t quantile(std::vector<std::int64_t>& values, std::size_t per_mille) {
  const auto place = static_cast<std::ptrdiff_t>((values.size() - 1) * per_mille / 1000);
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: echo_load PORT SERVER_PID CONNECTIONS BYTES MILLISECONDS\n");
    return 2;
  }
  const auto argument = [argv](int index) { return std::strtoll(argv[index], nullptr, 10); };
  clockid_t server{};
  expect(::clock_getcpuclockid(static_cast<pid_t>(argument(2)), &server) == 0,
         "echo_load: the server's clock");
  Load load(static_cast<unsigned short>(argument(1)), static_cast<std::size_t>(argument(3)),
            static_cast<std::size_t>(argument(4)));
  load.start();
  load.run_until(load.now() + warm_up);
  load.forget();
  const std::int64_t begun = load.now();
  const std::int64_t server_begun = nanoseconds(server);
  const std::int64_t own_begun = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  load.run_until(begun + argument(5) * 1'000'000);
  const auto wall = static_cast<double>(load.now() - begun);
  const auto served = static_cast<double>(nanoseconds(server) - server_begun);
  const auto own = static_cast<double>(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - own_begun);
  std::vector<std::int64_t>& latencies = load.latencies();
  expect(!latencies.empty(), "echo_load: no answer came");
  const auto requests = static_cast<double>(latencies.size());
  std::printf(
      "{\"figure\": %.1f, \"rate\": %.0f, \"busy\": %.3f, \"load_cpu\": %.1f, \"p50\": %lld, \"p99\": %lld, "
      "\"p99.9\": %lld}\n",
      served / requests, requests / wall * 1e9, served / wall, own / requests,
      static_cast<long long>(quantile(latencies, 500)), static_cast<long long>(quantile(latencies, 990)),
      static_cast<long long>(quantile(latencies, 999)));
}
