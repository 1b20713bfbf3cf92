#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "../executor/timeline.hpp"
#include "../random.hpp"

// Random trees of scopes, groups, limits and errors, cancelled at random instants, beside a twin that works
// out by plain recursion when each part ends and how. Durations are random nanoseconds, so that no two events
// fall into one instant unless one is the cause of the other; what happens at one instant has tests of its
// own.

namespace {

using namespace bide;
using bide::test::Random;
using bide::test::virtual_time;

enum class Kind { sleep, fail, sequence, limit, due, shield, scope, group, catch_all, catch_errors };

struct Node {
  Kind kind;
  int id;
  Duration time{};  // from its start; of a scope: when it is cancelled
  std::vector<std::unique_ptr<Node>> parts;
};

struct End {
  Duration at;
  enum class How { well, cancelled, failed } how;
  int error;  // id of the node that threw it

  friend bool operator==(const End&, const End&) = default;
};
using How = End::How;
using Ends = std::map<int, End>;  // by node

struct Failure {
  int node;
};

constexpr Duration never = Duration::max();

std::unique_ptr<Node> make_tree(Random& random, int depth, int& last_id) {
  auto node = std::make_unique<Node>();
  const auto leaf = static_cast<Kind>(random.below(6) == 0 ? 1 : 0);
  node->kind = depth == 0 ? leaf : static_cast<Kind>(random.below(10));
  node->id = ++last_id;
  node->time = Duration(1 + static_cast<std::int64_t>(random.below(1'000'000'000)));
  std::size_t parts = 1;
  if (node->kind == Kind::sleep || node->kind == Kind::fail) parts = 0;
  if (node->kind == Kind::sequence) parts = 1 + random.below(3);
  if (node->kind == Kind::group) parts = 1 + random.below(4);
  for (std::size_t part = 0; part < parts; ++part)
    node->parts.push_back(make_tree(random, depth - 1, last_id));
  return node;
}

// The twin. `cancel`: the instant from which on waits throw.
End expect(const Node& node, Duration start, Duration cancel, Ends& ends);

End expect_group(const Node& node, Duration start, Duration cancel, Ends& ends) {
  const std::size_t none = node.parts.size();
  // All parts; those beside the one that failed first are cancelled at `until`.
  const auto expect_parts = [&](std::size_t failed, Duration until) {
    std::vector<End> all;
    for (std::size_t part = 0; part < node.parts.size(); ++part) {
      all.push_back(
          expect(*node.parts[part], start, part == failed ? cancel : std::min(cancel, until), ends));
    }
    return all;
  };
  const Ends before = ends;
  std::vector<End> all = expect_parts(none, never);
  std::size_t failed = none;
  for (std::size_t part = 0; part < node.parts.size(); ++part) {
    if (all[part].how == How::failed && (failed == none || all[part].at < all[failed].at)) failed = part;
  }
  const std::optional<End> error = failed == none ? std::nullopt : std::optional<End>(all[failed]);
  if (error) {
    ends = before;
    all = expect_parts(failed, error->at);
  }
  End end{start, How::well, 0};
  for (const End& part : all) {
    end.at = std::max(end.at, part.at);
    if (part.how == How::cancelled) end.how = How::cancelled;
  }
  if (error) {
    end.how = How::failed;
    end.error = error->error;
  }
  return end;
}

End expect_kind(const Node& node, Duration start, Duration cancel, Ends& ends) {
  switch (node.kind) {
    case Kind::sleep:
    case Kind::fail: {
      const Duration end = start + node.time;
      if (cancel < end) return {std::max(start, cancel), How::cancelled, 0};
      if (node.kind == Kind::fail) return {end, How::failed, node.id};
      return {end, How::well, 0};
    }
    case Kind::sequence: {
      End end{start, How::well, 0};
      for (const auto& part : node.parts) {
        end = expect(*part, end.at, cancel, ends);
        if (end.how != How::well) return end;
      }
      return end;
    }
    case Kind::limit:
    case Kind::due:
    case Kind::scope: {
      const Duration own = start + node.time;
      End end = expect(*node.parts[0], start, std::min(cancel, own), ends);
      if (end.how != How::cancelled || own > end.at || cancel <= end.at) return end;
      if (node.kind == Kind::scope) return {end.at, How::well, 0};
      return {end.at, How::failed, node.id};
    }
    case Kind::shield:
      return expect(*node.parts[0], start, never, ends);
    case Kind::group:
      return expect_group(node, start, cancel, ends);
    case Kind::catch_all:
      return {expect(*node.parts[0], start, cancel, ends).at, How::well, 0};
    case Kind::catch_errors: {
      End end = expect(*node.parts[0], start, cancel, ends);
      if (end.how == How::failed) end = {end.at, How::well, 0};
      return end;
    }
  }
  return {};
}

End expect(const Node& node, Duration start, Duration cancel, Ends& ends) {
  const End end = expect_kind(node, start, cancel, ends);
  ends[node.id] = end;
  return end;
}

// The real thing.
Task<> act(const Node& node, Ends& ends);

Task<> cancels_scope(CancelScope& scope, Duration after) {
  co_await Sleep(after);
  scope.cancel();
}

Task<> act_group(TaskGroup& group, const Node& node, Ends& ends) {
  for (std::size_t part = 1; part < node.parts.size(); ++part) group.submit(act(*node.parts[part], ends));
  co_await act(*node.parts[0], ends);
}

Task<> act_in_scope(const Node& node, Ends& ends) {
  CancelScope scope;
  Handle<> canceller = submit(cancels_scope(scope, node.time));
  scope.enter();
  std::exception_ptr error;
  try {
    co_await act(*node.parts[0], ends);
  } catch (...) {
    error = std::current_exception();
  }
  const bool requested = scope.cancel_requested();
  scope.leave();
  canceller.cancel();
  if (error == nullptr) co_return;
  if (is_cancelled(error) && requested && running.thread->cancelled == 0) co_return;
  std::rethrow_exception(error);
}

Task<> act_kind(const Node& node, Ends& ends) {
  switch (node.kind) {
    case Kind::sleep:
    case Kind::fail:
      co_await Sleep(node.time);
      if (node.kind == Kind::fail) throw Failure{node.id};
      break;
    case Kind::sequence:
      for (const auto& part : node.parts) co_await act(*part, ends);
      break;
    case Kind::limit:
    case Kind::due:
      try {
        if (node.kind == Kind::limit) {
          co_await timeout(node.time, act(*node.parts[0], ends));
        } else {
          co_await deadline(now() + node.time, act(*node.parts[0], ends));
        }
      } catch (const TimedOut&) {
        throw Failure{node.id};
      }
      break;
    case Kind::shield:
      co_await shielded(act(*node.parts[0], ends));
      break;
    case Kind::scope:
      co_await act_in_scope(node, ends);
      break;
    case Kind::group:
      co_await with_task_group(act_group, std::ref(node), std::ref(ends));
      break;
    case Kind::catch_all:
      try {
        co_await act(*node.parts[0], ends);
      } catch (...) {
      }
      break;
    case Kind::catch_errors:
      try {
        co_await act(*node.parts[0], ends);
      } catch (const Failure&) {
      }
      break;
  }
}

Task<> act(const Node& node, Ends& ends) {
  End end{{}, How::well, 0};
  std::exception_ptr error;
  try {
    co_await act_kind(node, ends);
  } catch (const Cancelled&) {
    end.how = How::cancelled;
    error = std::current_exception();
  } catch (const Failure& failure) {
    end.how = How::failed;
    end.error = failure.node;
    error = std::current_exception();
  }
  end.at = now().time_since_epoch();
  ends[node.id] = end;
  if (error != nullptr) std::rethrow_exception(error);
}

// After the tree the thread is as it was before: in no scope, cancelled only by its own cancel.
Task<> root(const Node& node, Ends& ends, bool& as_before) {
  try {
    co_await act(node, ends);
  } catch (const Cancelled&) {
  } catch (const Failure&) {
  }
  as_before = running.thread->scope == nullptr && running.thread->debts == nullptr
                  ? running.thread->cancelled == running.thread->cancel_requested
                  : running.thread->scope == nullptr && running.thread->debts->first == nullptr;
}
Task<> cancels_root(Handle<>& handle, Duration at) {
  co_await SleepUntil(Instant(at));
  handle.cancel();
}

TEST_CASE("Scopes: random trees end when and how a plain recursion says, and leave nothing behind") {
  Random random(20'260'101);
  std::size_t nodes = 0;
  for (int round = 0; round < 4'000; ++round) {
    CAPTURE(round);
    int last_id = 0;
    const std::unique_ptr<Node> tree = make_tree(random, 1 + static_cast<int>(random.below(8)), last_id);
    nodes += static_cast<std::size_t>(last_id);
    const bool cancelled = random.below(3) != 0;
    const Duration cancel(cancelled ? static_cast<std::int64_t>(random.below(2'000'000'000)) : never.count());

    Ends expected;
    const End end = expect(*tree, Duration(), cancel, expected);

    Ends actual;
    bool as_before = false;
    Executor executor(virtual_time);
    Handle<> handle = executor.submit(root(*tree, actual, as_before));
    std::optional<Handle<>> canceller;
    if (cancelled) canceller = executor.submit(cancels_root(handle, cancel));
    const RunReport report = executor.run();

    for (const auto& [id, node_end] : expected) {
      CAPTURE(id);
      const bool as_expected = actual.contains(id) && actual[id] == node_end;
      REQUIRE(as_expected);
    }
    REQUIRE(actual.size() == expected.size());
    REQUIRE(as_before);
    REQUIRE(report.now.time_since_epoch() == (cancelled ? std::max(end.at, cancel) : end.at));
  }
  CHECK(nodes > 20'000);
}

}  // namespace
