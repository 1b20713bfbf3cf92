#pragma once

#include <string>

#include <bide/executor/executor.hpp>
#include <bide/tests/executor/timeline.hpp>

namespace bide::test {

/// Awaits what `wait()` makes and writes how that ended: "name@5", or "name cancelled@5", which goes on.
template <class Wait>
Task<> tells_end(Timeline& timeline, std::string name, Wait wait) {
  try {
    co_await wait();
    timeline.push_back(at_now(name));
  } catch (const Cancelled&) {
    timeline.push_back(at_now(name + " cancelled"));
    throw;
  }
}

/// Comes to another wait and writes what a cancel that came before does there: "next wait cancelled@5".
inline Task<> tells_at_next_wait(Timeline& timeline) {
  return tells_end(timeline, "next wait", [] { return Yield(); });
}

}  // namespace bide::test
