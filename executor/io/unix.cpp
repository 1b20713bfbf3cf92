#include <bide/executor/io/unix.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/socket_calls.hpp>

namespace bide {

namespace {

// A socket's path that nobody listens on any more. Whoever does has a queue, full or not.
bool stale(const Address& address, int type) {
  struct stat status;
  if (::lstat(std::string(address.path()).c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const Descriptor probe = open_socket(address, type | SOCK_NONBLOCK, "bind");
  return ::connect(probe.number(), address.data(), address.size()) != 0 && errno == ECONNREFUSED;
}

Descriptor bound_socket(const Address& address, int type, UnixListenOptions::Stale stale_path,
                        const char* what) {
  Descriptor socket = open_socket(address, type, what);
  if (::bind(socket.number(), address.data(), address.size()) == 0) return socket;
  const int error = errno;
  const bool may_remove = error == EADDRINUSE && stale_path == UnixListenOptions::Stale::remove &&
                          address.family() == Address::Family::unix_path;
  if (!may_remove || !stale(address, type)) throw_io_error(error, socket_call(what, address));
  ::unlink(std::string(address.path()).c_str());
  bind_socket(socket, address, what);
  return socket;
}

void require_unix(const Address& address, const char* what) {
  const Address::Family family = address.family();
  if (family != Address::Family::unix_path && family != Address::Family::unix_abstract)
    throw_io_error(EAFNOSUPPORT, socket_call(what, address));
}

}  // namespace

std::pair<UnixStream, UnixStream> UnixStream::pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw_io_error(errno, "make a pair of sockets");
  return {UnixStream(Descriptor(ends[0]), Address()), UnixStream(Descriptor(ends[1]), Address())};
}

void UnixStream::set_up() {
  constexpr const char* what = "connect to";
  require_unix(name_, what);
  descriptor_ = open_socket(name_, SOCK_STREAM, what);
}

BoundPath::BoundPath(const Address& address) {
  if (address.family() != Address::Family::unix_path) return;
  struct stat status;
  const std::string path(address.path());
  if (::lstat(path.c_str(), &status) != 0) return;
  path_ = path;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

BoundPath& BoundPath::operator=(BoundPath&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, std::string());
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

void BoundPath::remove() noexcept {
  if (path_.empty()) return;
  struct stat status;
  const bool same =
      ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  if (same) ::unlink(path_.c_str());
  path_.clear();
}

UnixListener UnixListener::bind(const Address& address, const UnixListenOptions& options) {
  require_unix(address, "listen on");
  Descriptor socket = bound_socket(address, SOCK_STREAM, options.stale_path, "listen on");
  UnixListener listener(std::move(socket), address, options.exhausted, BoundPath(address));
  listen_on(listener.descriptor_, options.backlog, address);
  listener.address_ = local_address_of(listener.descriptor_, address);
  return listener;
}

CloseDescriptor UnixListener::close(std::source_location where) {
  path_.remove();
  return StreamListener::close(where);
}

UnixDatagram UnixDatagram::bind(const Address& address, UnixListenOptions::Stale stale_path) {
  require_unix(address, "bind");
  UnixDatagram socket(bound_socket(address, SOCK_DGRAM, stale_path, "bind"), address);
  socket.path_ = BoundPath(address);
  return socket;
}

UnixDatagram UnixDatagram::unbound() {
  return UnixDatagram(open_socket(Address::unix_abstract(""), SOCK_DGRAM, "open"), Address());
}

}  // namespace bide
