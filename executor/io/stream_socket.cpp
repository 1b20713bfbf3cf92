#include <bide/executor/io/stream_socket.hpp>

#include <sys/socket.h>
#include <cerrno>
#include <memory>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/socket_calls.hpp>
#include <bide/executor/io/stream.hpp>

namespace bide {

std::string socket_call(const char* verb, const Address& name) {
  return std::string(verb) + " " + name.to_string();
}

ObjectName socket_name(const Address& address) noexcept {
  return {[](const void* object) { return static_cast<const Address*>(object)->to_string(); }, &address};
}

Task<std::size_t> StreamSocket::read_exactly(std::span<std::byte> bytes) {
  return bide::read_exactly(*this, bytes);
}

void StreamSocket::shutdown_write() {
  if (::shutdown(descriptor_.number(), SHUT_WR) != 0) throw_io_error(errno, socket_call("shut down", name_));
}

CloseDescriptor StreamSocket::close(std::source_location where) {
  return CloseDescriptor(descriptor_, socket_name(name_), where);
}

Address StreamSocket::local_address() const { return local_address_of(descriptor_, name_); }
Address StreamSocket::peer_address() const { return peer_of(descriptor_); }

void StreamSocket::set_option(int level, int option, int value, const char* what) {
  set_socket_option(descriptor_, level, option, value, name_, what);
}

void StreamSocket::set_send_buffer_bytes(int bytes) {
  set_option(SOL_SOCKET, SO_SNDBUF, bytes, "set the send buffer of");
}
void StreamSocket::set_receive_buffer_bytes(int bytes) {
  set_option(SOL_SOCKET, SO_RCVBUF, bytes, "set the receive buffer of");
}

Receiving& StreamSocket::receiving_or_new() {
  if (receiving() == nullptr) descriptor_.repeat(*new Receiving(descriptor_));
  return *receiving();
}

bool StreamSocket::Read::take_queued() {
  if (!receiving()->has_next()) return false;
  result = receiving()->take(bytes_);
  return true;
}

void StreamSocket::Read::wait_for_queue(Frame& frame) {
  park(frame);
  in_queue_ = true;
  receiving()->wait(*this, *thread()->executor);
}

void StreamSocket::Read::data_came() noexcept {
  in_queue_ = false;
  result = receiving()->take(bytes_);
  wake();
}

bool StreamSocket::Read::ask_to_end() noexcept {
  if (!in_queue_) return DescriptorWait::ask_to_end();
  receiving()->stop_counting();
  return false;
}

void StreamSocket::Read::withdraw() noexcept {
  if (in_queue_) return receiving()->forget_waiter();
  DescriptorWait::withdraw();
}

bool StreamSocket::Receive::await_ready() {
  if (enter()) return true;
  if (!socket_.descriptor_.open()) {
    result_ = -EBADF;
    return true;
  }
  receiving_ = &socket_.receiving_or_new();
  if (!receiving_->has_next()) return false;
  result_ = receiving_->take(received_);
  return true;
}

void StreamSocket::Receive::wait_for_data(Frame& frame) {
  park(frame);
  receiving_->wait(*this, *thread()->executor);
}

void StreamSocket::Receive::data_came() noexcept {
  result_ = receiving_->take(received_);
  wake();
}

bool StreamSocket::Receive::ask_to_end() noexcept {
  receiving_->stop_counting();
  return false;
}

void StreamSocket::Receive::withdraw() noexcept { receiving_->forget_waiter(); }

Received StreamSocket::Receive::await_resume() {
  finish();
  if (result_ < 0) throw_io_error(result_, describe());
  return std::move(received_);
}

}  // namespace bide
