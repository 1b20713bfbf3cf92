#pragma once

#include <concepts>
#include <coroutine>
#include <source_location>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/address.hpp>
#include <bide/executor/operation.hpp>

namespace bide {

/// The errors of getaddrinfo(3): EAI_NONAME, EAI_AGAIN and the others.
const std::error_category& resolve_errors() noexcept;

class Resolve;

/// `co_await resolve("example.org", "https")`: the addresses of a host, with the port of a service.
///
/// `host`:    a name, or an address in numbers, which asks nobody. `service`: a name, a number, or empty: port 0.
/// Returns:   at least one Address. Order: as getaddrinfo(3) gives them, the best first (RFC 6724): try one after the
///            other.
/// Suspends:  unless both are numbers. Cancellation point; a question that was put is waited for, which may take as long
///            as the system's resolver tries: five seconds and more.
/// Throws:    Cancelled; std::system_error: "resolve nowhere.invalid: Name or service not known".
///
/// The system's getaddrinfo on a thread of the BlockingPool, and not a resolver library that waits through `readable`: it
/// answers what other programs of the machine are answered (hosts file, name service switch, local caches), and the
/// library needs no further dependency. Its cost: a thread of the pool for each question under way.
[[nodiscard]] Resolve resolve(std::string_view host, std::string_view service = {},
                              std::source_location where = std::source_location::current());

/// The wait for the answer.
class [[nodiscard]] Resolve final : public OperationWait {
 public:
  Resolve(std::string_view host, std::string_view service, std::source_location where)
      : OperationWait(Kind::call, where), host_(host), service_(service) {}

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin(frame.promise(), Executor::current().blocking_pool());
  }
  std::vector<Address> await_resume();
  std::string describe() const override;

 private:
  std::int64_t call_blocking() noexcept override;
  bool in_numbers();
  void ask(int how);

  std::string host_;
  std::string service_;
  std::vector<Address> found_;
  std::error_code error_;
};

}  // namespace bide
