#include <bide/executor/io/resolve.hpp>

#include <netdb.h>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>

#include <bide/executor/io/io_error.hpp>

namespace bide {

namespace {

class ResolveErrors final : public std::error_category {
 public:
  const char* name() const noexcept override { return "bide.resolve"; }
  std::string message(int code) const override { return ::gai_strerror(code); }
};

// A number that no port has: getaddrinfo would take what is left of it in 16 bits.
bool no_port(const std::string& service) {
  char* end = nullptr;
  const long number = std::strtol(service.c_str(), &end, 10);
  return end != service.c_str() && *end == '\0' && (number < 0 || number > 65'535);
}

}  // namespace

const std::error_category& resolve_errors() noexcept {
  static const ResolveErrors category;
  return category;
}

Resolve resolve(std::string_view host, std::string_view service, std::source_location where) {
  return Resolve(host, service, where);
}

bool Resolve::await_ready() {
  if (enter()) return true;
  const bool wrong = host_.empty() || (host_ + service_).find('\0') != std::string::npos;
  if (wrong) {
    error_ = {EAI_NONAME, resolve_errors()};
  } else if (no_port(service_)) {
    error_ = {EAI_SERVICE, resolve_errors()};
  }
  return error_ ? true : in_numbers();
}

// Asks nobody, and fails where that would be needed.
bool Resolve::in_numbers() {
  ask(AI_NUMERICHOST | AI_NUMERICSERV);
  if (!error_) return true;
  error_.clear();
  return false;
}

void Resolve::ask(int how) {
  addrinfo wanted{};
  wanted.ai_flags = how;
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;  // of each address one, and not one a type of socket
  addrinfo* first = nullptr;
  const int failed =
      ::getaddrinfo(host_.c_str(), service_.empty() ? nullptr : service_.c_str(), &wanted, &first);
  if (failed == EAI_SYSTEM) {
    error_ = {errno, std::system_category()};
  } else if (failed != 0) {
    error_ = {failed, resolve_errors()};
  }
  if (failed != 0) return;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> answer(first, ::freeaddrinfo);
  for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
    found_.push_back(Address::from(each->ai_addr, each->ai_addrlen));
  }
}

std::int64_t Resolve::call_blocking() noexcept {
  try {
    ask(0);
    return 0;
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

std::vector<Address> Resolve::await_resume() {
  const std::int64_t ended = end();
  if (ended < 0) throw_io_error(ended, describe());
  if (error_) throw std::system_error(error_, describe());
  return std::move(found_);
}

std::string Resolve::describe() const {
  const std::string host = "resolve " + escaped(host_);
  return service_.empty() ? host : host + " port " + escaped(service_);
}

}  // namespace bide
