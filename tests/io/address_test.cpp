#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/address.hpp>

using namespace bide;

namespace {

std::string problem_of(std::string_view text) {
  std::string problem;
  const bool parsed = Address::try_parse(text, &problem).has_value();
  try {
    static_cast<void>(Address::parse(text));
    return parsed ? "" : "parse and try_parse differ";
  } catch (const std::invalid_argument& error) {
    return !parsed && problem == error.what() ? problem : "parse and try_parse differ";
  }
}

std::string again(std::string_view text) { return Address::parse(text).to_string(); }

TEST_CASE("Address: what is printed is what is parsed") {
  for (const std::string text : {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[::]:0",
                                 "[fe80::1%7]:443", "[2001:db8::8:800:200c:417a]:1", "unix:/run/bide.sock",
                                 "unix:relative", "unix:@abstract", "unix:@", "unix:/caf\xc3\xa9"}) {
    CHECK(again(text) == text);
  }
  CHECK(again("[::ffff:1.2.3.4]:9") == "[::ffff:1.2.3.4]:9");
  CHECK(again("[0:0:0:0:0:0:0:1]:80") == "[::1]:80");
  CHECK(again("[FE80::ABCD%lo]:80") == "[fe80::abcd%1]:80");
}

TEST_CASE("Address: a text that is none is refused, and says what is wrong and where") {
  CHECK(problem_of("") == "address \"\", at 1: it is empty");
  CHECK(
      problem_of("1.2.3:80") ==
      "address \"1.2.3:80\", at 6: an IPv4 address has four numbers with dots between (IPv6 has brackets, a "
      "path the prefix unix:)");
  CHECK(problem_of("1.2.3.256:80") == "address \"1.2.3.256:80\", at 7: a number above 255");
  CHECK(problem_of("1.2.3.04:80") == "address \"1.2.3.04:80\", at 7: a number with a leading zero");
  CHECK(problem_of("1.2.3.4") == "address \"1.2.3.4\", at 8: ':' and a port are missing");
  CHECK(problem_of("1.2.3.4 :80") == "address \"1.2.3.4 :80\", at 8: ':' and a port have to come here");
  CHECK(problem_of("1.2.3.4:") == "address \"1.2.3.4:\", at 9: the port is missing");
  CHECK(problem_of("1.2.3.4:65536") == "address \"1.2.3.4:65536\", at 9: a port above 65535");
  CHECK(problem_of("1.2.3.4:99999999999999999999") ==
        "address \"1.2.3.4:99999999999999999999\", at 9: a port above 65535");
  CHECK(problem_of("1.2.3.4:8o") == "address \"1.2.3.4:8o\", at 10: a port is a decimal number");
  CHECK(problem_of("1.2.3.4:-1") == "address \"1.2.3.4:-1\", at 9: a port is a decimal number");
  CHECK(problem_of("[::1:80") == "address \"[::1:80\", at 8: ']' is missing");
  CHECK(problem_of("[::g]:80") == "address \"[::g]:80\", at 4: no IPv6 address has this character");
  CHECK(problem_of("[:::]:80") == "address \"[:::]:80\", at 2: this is no IPv6 address");
  CHECK(problem_of("[::1]80") == "address \"[::1]80\", at 6: ':' and a port have to come here");
  CHECK(problem_of("[::1%nosuch]:80") == "address \"[::1%nosuch]:80\", at 6: no interface has this name");
  CHECK(problem_of("[::1%]:80") == "address \"[::1%]:80\", at 6: no interface has this name");
  CHECK(problem_of("unix:") == "address \"unix:\", at 6: the path is missing");
  CHECK(!problem_of("localhost:80").empty());
}

TEST_CASE("Address: NUL, newline, bytes that are not UTF-8 and 4 KiB are refused, and shown escaped") {
  const std::string with_nul("unix:/a\0b", 9);
  CHECK(problem_of(with_nul) == "address \"unix:/a\\x00b\", at 8: a control character");
  CHECK(problem_of("unix:/a\nb") == "address \"unix:/a\\x0ab\", at 8: a control character");
  CHECK(problem_of("unix:/a\xff") == "address \"unix:/a\\xff\", at 8: not UTF-8");
  CHECK(problem_of("unix:/" + std::string(4096, 'a')).find("too long") != std::string::npos);
  CHECK(problem_of("unix:/" + std::string(4096, 'a')).size() < 400);
  CHECK(problem_of(std::string("1.2.3.4:80\0", 11)) ==
        "address \"1.2.3.4:80\\x00\", at 11: a port is a decimal number");
  CHECK_THROWS_AS(Address::unix_path(""), std::invalid_argument);
  CHECK_THROWS_AS(Address::unix_path(std::string("a\0b", 3)), std::invalid_argument);
  CHECK_THROWS_AS(Address::unix_path(std::string(108, 'a')), std::invalid_argument);
  CHECK_THROWS_AS(Address::unix_abstract(std::string(108, 'a')), std::invalid_argument);
}

TEST_CASE("Address: the longest paths fit, and come back from the system's form") {
  const std::string longest(Address::longest_path_bytes, 'p');
  for (const Address& address : {Address::unix_path(longest), Address::unix_abstract(longest),
                                 Address::unix_abstract(std::string("\0x\0", 3)), Address::loopback(1),
                                 Address::parse("[fe80::2%3]:4"), Address()}) {
    CHECK(Address::from(address.data(), address.size()) == address);
  }
  CHECK(Address::unix_path(longest).path() == longest);
  CHECK(Address::unix_abstract(std::string("\0x", 2)).to_string() == "unix:@\\x00x");
  CHECK(Address::unix_path("a\nb").to_string() == "unix:a\\x0ab");
  CHECK(Address::unix_path("@a").to_string() == "unix:./@a");
  CHECK(Address::from("", 0).family() == Address::Family::none);
  CHECK(Address().to_string() == "nowhere");
  const sockaddr_un full = [] {  // without a NUL, as the kernel may give it
    sockaddr_un raw{};
    raw.sun_family = AF_UNIX;
    std::fill(std::begin(raw.sun_path), std::end(raw.sun_path), 'q');
    return raw;
  }();
  CHECK(Address::from(&full, sizeof full).path() == std::string(108, 'q'));
}

TEST_CASE("Address: compares by family, address, port and scope") {
  std::vector<std::string> sorted;
  std::vector<Address> addresses;
  for (const char* text : {"unix:@b", "unix:/b", "unix:/a", "[::1]:2", "[::1]:1", "[::1%1]:1", "10.0.0.1:1",
                           "9.0.0.1:2", "9.0.0.1:1"}) {
    addresses.push_back(Address::parse(text));
  }
  std::sort(addresses.begin(), addresses.end());
  for (const Address& address : addresses) sorted.push_back(address.to_string());
  CHECK(sorted == std::vector<std::string>{"9.0.0.1:1", "9.0.0.1:2", "10.0.0.1:1", "[::1]:1", "[::1%1]:1",
                                           "[::1]:2", "unix:/a", "unix:/b", "unix:@b"});
  CHECK(Address::loopback(80) == Address::parse("127.0.0.1:80"));
  CHECK(Address::loopback(80) != Address::loopback(81));
  CHECK(Address::loopback(80).with_port(81) == Address::loopback(81));
  CHECK(Address::loopback_ipv6(80).with_port(81) == Address::parse("[::1]:81"));
  CHECK(Address::any(3).host() == "0.0.0.0");
  CHECK(Address::any_ipv6(3).to_string() == "[::]:3");
  CHECK(Address::parse("[fe80::1%4]:5").scope_id() == 4);
}

}  // namespace
