#include <netdb.h>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/resolve.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "io_run.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

Task<std::vector<std::string>> found(std::string host, std::string service) {
  const std::vector<Address> addresses = co_await resolve(host, service);
  std::vector<std::string> texts;
  for (const Address& address : addresses) texts.push_back(address.to_string());
  co_return texts;
}

TEST_CASE("Resolve: numbers are answered without an OS thread, also in virtual time") {
  CHECK(run_io(found("127.0.0.1", "80"), {.time = TimeMode::virtual_time}) ==
        std::vector<std::string>{"127.0.0.1:80"});
  CHECK(run_io(found("::1", ""), {.time = TimeMode::virtual_time}) == std::vector<std::string>{"[::1]:0"});
}

TEST_CASE("Resolve: this machine's own name is known, and services have names") {
  const std::vector<std::string> texts = run_io(found("localhost", "7"));
  CHECK(!texts.empty());
  for (const std::string& text : texts) CHECK((text == "127.0.0.1:7" || text == "[::1]:7"));
}

TEST_CASE("Resolve: a failure names host and service") {
  const auto failure = [](std::string host, std::string service) {
    return run_io(failure_of([](std::string of, std::string with) -> Task<> { co_await resolve(of, with); },
                             host, service));
  };
  const Failure empty = failure("", "80");
  CHECK(empty.code == std::error_code(EAI_NONAME, resolve_errors()));
  CHECK(empty.text == "resolve  port 80: Name or service not known");
  CHECK(failure(std::string("a\0b", 3), "").text == "resolve a\\x00b: Name or service not known");
  const Failure service = failure("127.0.0.1", "no-such-service");
  CHECK(service.text == "resolve 127.0.0.1 port no-such-service: Servname not supported for ai_socktype");
  CHECK(service.code.category() == resolve_errors());
  for (const char* const number : {"65536", "99999", "-1", "-65456", "4294967376", "99999999999999999999"}) {
    CHECK(failure("127.0.0.1", number).code == std::error_code(EAI_SERVICE, resolve_errors()));
    CHECK(failure("localhost", number).code == std::error_code(EAI_SERVICE, resolve_errors()));
  }
}

}  // namespace
