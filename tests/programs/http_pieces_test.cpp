#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/stream.hpp>
#include <bide/tests/random.hpp>

#include "byte_range.hpp"
#include "http_date.hpp"
#include "request_parser.hpp"
#include "target_path.hpp"

using namespace bide_http;

namespace {

using Texts = std::vector<std::string>;

RangeAnswer part(std::uint64_t first, std::uint64_t count) {
  return {.kind = RangeAnswer::Kind::part, .part = {.first = first, .count = count}};
}

/// What a parser makes of a text that comes in pieces of such a size: a line for each request, or the refusal.
Texts parse(std::string_view text, std::size_t piece) {
  RequestParser parser;
  Texts found;
  while (!text.empty() && !parser.refused()) {
    std::string_view coming = text.substr(0, piece);
    text.remove_prefix(coming.size());
    while (!coming.empty() && !parser.refused()) {
      coming.remove_prefix(parser.feed(bide::bytes_of(coming)));
      if (parser.complete()) {
        const Request& request = parser.request();
        found.push_back((request.method == Request::Method::get ? "GET " : "other ") + request.target +
                        (request.keep_alive ? "" : " close") +
                        (request.range.empty() ? "" : " range " + request.range));
      }
    }
  }
  if (parser.refused()) found.push_back(std::to_string(*parser.refused()));
  if (parser.begun() && !parser.refused()) found.emplace_back("begun");
  return found;
}

}  // namespace

TEST_CASE("answer_range: one range of bytes, whole, cut or impossible") {
  const auto same = [](const RangeAnswer& a, const RangeAnswer& b) {
    return a.kind == b.kind && a.part == b.part;
  };
  const RangeAnswer whole{};
  const RangeAnswer impossible{.kind = RangeAnswer::Kind::unsatisfiable};
  struct Case {
    const char* header;
    std::uint64_t size;
    RangeAnswer expected;
  };
  const Case cases[] = {
      {"bytes=0-0", 10, part(0, 1)},
      {"bytes=0-", 10, part(0, 10)},
      {"bytes= 2 - 4 ", 10, part(2, 3)},
      {"bytes=9-99", 10, part(9, 1)},
      {"bytes=9-18446744073709551615", 10, part(9, 1)},
      {"bytes=9-99999999999999999999999", 10, part(9, 1)},
      {"bytes=-3", 10, part(7, 3)},
      {"bytes=-30", 10, part(0, 10)},
      {"bytes=10-", 10, impossible},
      {"bytes=99999999999999999999999-", 10, impossible},
      {"bytes=-0", 10, impossible},
      {"bytes=-1", 0, impossible},
      {"bytes=0-", 0, impossible},
      {"bytes=4-2", 10, whole},
      {"bytes=-", 10, whole},
      {"bytes=", 10, whole},
      {"bytes=a-b", 10, whole},
      {"bytes=1-2,4-5", 10, whole},
      {"bytes=-1-2", 10, whole},
      {"octets=1-2", 10, whole},
      {"", 10, whole},
  };
  for (const Case& one : cases) {
    INFO(one.header);
    CHECK(same(answer_range(one.header, one.size), one.expected));
  }
}

TEST_CASE("target_path: names stay below the root") {
  const std::pair<const char*, std::optional<std::string>> cases[] = {
      {"/", ""},
      {"/a", "a"},
      {"/a/", "a/"},
      {"/a//b/./c?d#e", "a/b/c"},
      {"/a/../b", "b"},
      {"/a/b/../", "a/"},
      {"/%41%2f%62", "A/b"},
      {"http://host/x", "x"},
      {"http://host", ""},
      {"/..", std::nullopt},
      {"/a/../../b", std::nullopt},
      {"/%2e%2E/b", std::nullopt},
      {"/%", std::nullopt},
      {"/%4", std::nullopt},
      {"/%g1", std::nullopt},
      {"/a%00b", std::nullopt},
      {"", std::nullopt},
      {"a", std::nullopt},
      {"*", std::nullopt},
  };
  for (const auto& [target, expected] : cases) {
    INFO(target);
    CHECK(target_path(target) == expected);
  }
}

TEST_CASE("with_slash: names come back escaped, with the query") {
  const std::pair<const char*, const char*> cases[] = {
      {"/sub", "/sub/"},
      {"/sub?x=1&y=%20#z", "/sub/?x=1&y=%20"},
      {"/a%20b/%25%3f%23", "/a%20b/%25%3F%23/"},
      {"/a%0d%0aSet-Cookie:%20x", "/a%0D%0ASet-Cookie%3A%20x/"},
      {"/%5cevil.example", "/%5Cevil.example/"},
      {"//evil.example", "/evil.example/"},
      {"/r%c3%a9sum\xc3\xa9?\xc3\xa9\t", "/r%C3%A9sum%C3%A9/?%C3%A9%09"},
      {"http://host/sub?", "/sub/?"},
  };
  for (const auto& [target, expected] : cases) {
    INFO(target);
    CHECK(with_slash(target_path(target).value(), target) == expected);
  }
}

TEST_CASE("http_date: writes and reads the one form, and no other") {
  CHECK(http_date(784'111'777) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == 784'111'777);
  for (const std::int64_t second : {0LL, 951'782'400LL, 4'102'444'799LL})
    CHECK(parse_http_date(http_date(second)) == second);
  for (const char* text : {"", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Mon, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 31 Jun 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 GMT+1"}) {
    INFO(text);
    CHECK_FALSE(parse_http_date(text));
  }
}

TEST_CASE("RequestParser: finds requests, however the bytes come") {
  const std::string_view text =
      "GET /a HTTP/1.1\r\nHost: x\r\nRANGE: bytes=1-2\r\n\r\n"
      "\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
      "GET /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
      "GET /d HTTP/1.0\r\n\r\n";
  const Texts expected{"GET /a range bytes=1-2", "other /b", "GET /c", "GET /d close"};
  for (const std::size_t piece : {1UL, 2UL, 3UL, 7UL, 64UL, 1000UL}) {
    INFO(piece);
    CHECK(parse(text, piece) == expected);
  }
  CHECK(parse("GET /a HTTP/1.1\r\nHost:", 5) == Texts{"begun"});
}

TEST_CASE("RequestParser: a head has the same room, however the bytes come") {
  const auto with_value = [](std::size_t bytes) {
    return "GET / HTTP/1.1\r\nA: " + std::string(bytes, 'a') + "\r\n\r\n";
  };
  const std::size_t others = std::string_view("/A: \r\n").size();
  const std::size_t most = RequestParser::most_head_bytes - others;
  for (const std::size_t piece : {1UL, 100UL, 100'000UL}) {
    INFO(piece);
    CHECK(parse(with_value(most), piece) == Texts{"GET /"});
    CHECK(parse(with_value(most + 1), piece) == Texts{"431"});
  }
}

TEST_CASE("RequestParser: refuses what is no request, or too much of one") {
  const std::string long_text(20'000, 'a');
  for (const std::size_t piece : {1UL, 100UL, 100'000UL}) {
    INFO(piece);
    CHECK(parse("what?\r\n\r\n", piece) == Texts{"400"});
    CHECK(parse("GET / HTTP/2.0\r\n\r\n", piece) == Texts{"505"});
    CHECK(parse("GET /" + long_text + " HTTP/1.1\r\n\r\n", piece) == Texts{"414"});
    CHECK(parse("GET / HTTP/1.1\r\nA: " + long_text + "\r\n\r\n", piece) == Texts{"431"});
    CHECK(parse("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", piece) == Texts{"413"});
    std::string chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int chunk = 0; chunk < 60; ++chunk) chunked += "4e20\r\n" + long_text + "\r\n";
    CHECK(parse(chunked, piece) == Texts{"413"});
  }
}

TEST_CASE("RequestParser: bodies are kept where that is asked for, for one request each") {
  const std::string_view text =
      "PATCH /a HTTP/1.1\r\nContent-Type: text/plain\r\nOrigin: http://b\r\nContent-Length: 3\r\n\r\none"
      "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\n\r\n";
  for (const bide_http::Bodies bodies : {bide_http::Bodies::keep, bide_http::Bodies::discard}) {
    bide_http::RequestParser parser(bodies);
    std::vector<std::string> found;
    std::string_view coming = text;
    while (!coming.empty()) {
      coming.remove_prefix(parser.feed(bide::bytes_of(coming.substr(0, 1))));
      if (!parser.complete()) continue;
      const bide_http::Request& request = parser.request();
      found.push_back(request.method_name + " " + request.content_type + " " + request.origin + " " +
                      request.body);
    }
    const bool keeps = bodies == bide_http::Bodies::keep;
    CHECK(found ==
          std::vector<std::string>{keeps ? "PATCH text/plain http://b one" : "PATCH text/plain http://b ",
                                   keeps ? "POST   two" : "POST   "});
  }
}

TEST_CASE("RequestParser: noise breaks nothing") {
  bide::test::Random random(11);
  const std::string_view seed = "GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  for (int round = 0; round < 3000; ++round) {
    std::string text(seed);
    for (std::uint64_t change = random.below(6) + 1; change > 0; --change)
      text[static_cast<std::size_t>(random.below(text.size()))] = static_cast<char>(random.below(256));
    const Texts found = parse(text, static_cast<std::size_t>(random.below(20) + 1));
    CHECK(found.size() <= 4);
  }
}
