#include "progress_bar.hpp"

#include <catch2/catch.hpp>

#include <sstream>
#include <string>

using bide_jobs::ProgressBar;
using namespace std::chrono_literals;

TEST_CASE("Progress bar: silent for a second, then ten lines a second, gone in the end") {
  std::ostringstream out;
  std::chrono::nanoseconds now = 5s;
  {
    ProgressBar bar(out, 200, [&] { return now; });
    now = 5999ms;
    bar.show(10);
    CHECK(out.str().empty());
    now = 6s;
    bar.show(50);
    CHECK(out.str() == "\r[##########..............................] 25 %, 50 of 200 jobs");
    out.str("");
    now = 6099ms;
    bar.show(60);
    CHECK(out.str().empty());
    now = 6100ms;
    bar.show(200);
    CHECK(out.str() == "\r[########################################] 100 %, 200 of 200 jobs");
    out.str("");
  }
  std::size_t width = std::string("[########################################] 100 %, 200 of 200 jobs").size();
  CHECK(out.str() == "\r" + std::string(width, ' ') + "\r");
}

TEST_CASE("Progress bar: a short run leaves nothing on the terminal") {
  std::ostringstream out;
  {
    ProgressBar(out, 1, [] { return 0ns; }).show(1);
  }
  CHECK(out.str().empty());
}
