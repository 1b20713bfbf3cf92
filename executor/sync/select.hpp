#pragma once

#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <bide/executor/handle.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/select_wait.hpp>

namespace bide {

// The arms. Each keeps references: write it inside the select expression.

/// Gives std::optional<T>, as `channel.receive()`.
template <class T>
auto receiving(Channel<T>& channel, std::source_location where = std::source_location::current()) {
  return [&channel, where] { return channel.receive(where); };
}
/// Gives std::monostate, or throws ChannelClosed, as `channel.send(std::move(item))`: unless this arm is the
/// one, the item stays where it is.
template <class T>
auto sending(Channel<T>& channel, std::type_identity_t<T>&& item,
             std::source_location where = std::source_location::current()) {
  return [&channel, &item, where] { return channel.send(std::move(item), where); };
}
template <class T>
auto sending(Channel<T>& channel, const std::type_identity_t<T>& item,
             std::source_location where = std::source_location::current()) {
  return [&channel, &item, where] { return channel.send(item, where); };
}
/// Gives std::monostate, as `event.wait()`.
inline auto waiting(Event& event, std::source_location where = std::source_location::current()) {
  return [&event, where] { return event.wait(where); };
}
/// Gives the thread's result, or throws its error, as `co_await handle`.
template <class T>
auto joining(Handle<T>& handle, std::source_location where = std::source_location::current()) {
  return [&handle, where] { return Join<T>(handle, where); };
}

/// Sleep, SleepUntil, or a callable that makes an awaiter: one derived from Wait whose `await_suspend`
/// returns void, and which changes nothing before it succeeds. `[&] { return mutex.lock(); }` is one; an operation of the
/// driver is none, since only the kernel can end it: give it a thread, and select on `joining` that.
template <class Arm>
concept SelectArm = std::derived_from<std::remove_reference_t<Arm>, SleepUntil> ||
    (std::derived_from<std::invoke_result_t<Arm&>, Wait> &&
     !std::derived_from<std::invoke_result_t<Arm&>, OperationWait>);

/// What a select gave: which arm, and what that arm gives.
template <class... Values>
struct Selected {
  template <std::size_t arm, class... Arguments>
  explicit Selected(std::in_place_index_t<arm> which, Arguments&&... arguments)
      : index(arm), value(which, std::forward<Arguments>(arguments)...) {}

  std::size_t index;
  std::variant<Values...> value;  // std::monostate for void
};

/// The wait of a select.
template <class... Arms>
class [[nodiscard]] Select final : public SelectWait {
  // Waits do not move: each is made in its place.
  template <class Arm>
  struct Place {
    explicit Place(Arm& arm) : wait(arm()) {}
    std::invoke_result_t<Arm&> wait;
  };
  template <std::derived_from<SleepUntil> Arm>
  struct Place<Arm> {
    explicit Place(Arm& arm) : wait(arm) {}
    SelectSleep wait;
  };

  template <class T>
  using ValueOf = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  using Result = Selected<ValueOf<decltype(std::declval<Place<Arms>&>().wait.await_resume())>...>;
  static constexpr std::size_t count = sizeof...(Arms);
  static_assert(count > 0, "a select without an arm would wait for ever");

 public:
  explicit Select(std::uint64_t turn, Arms&... arms) : SelectWait(turn), places_(arms...) {
    std::apply([this](auto&... place) { pointers_ = {&place.wait...}; }, places_);
    set_arms(pointers_.data(), count);
  }

  bool await_ready() {
    if (enter()) return true;
    std::size_t arm = first_to_try(count);
    for (std::size_t tried = 0; tried < count; ++tried) {
      if (ready(arm, std::index_sequence_for<Arms...>())) {
        selected_ = arm;
        return true;
      }
      arm = arm + 1 < count ? arm + 1 : 0;
    }
    return false;
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
    std::apply([frame](auto&... place) { (place.wait.await_suspend(frame), ...); }, places_);
  }
  Result await_resume() {
    finish();
    return result_of<0>();
  }

 private:
  template <std::size_t... index>
  bool ready(std::size_t arm, std::index_sequence<index...>) {
    return ((index == arm && std::get<index>(places_).wait.await_ready()) || ...);
  }

  template <std::size_t arm>
  Result result_of() {
    if constexpr (arm + 1 < count) {
      if (selected_ != arm) return result_of<arm + 1>();
    }
    auto& wait = std::get<arm>(places_).wait;
    if constexpr (std::is_void_v<decltype(wait.await_resume())>) {
      wait.await_resume();
      return Result(std::in_place_index<arm>);
    } else {
      return Result(std::in_place_index<arm>, wait.await_resume());
    }
  }

  std::array<Wait*, count> pointers_;
  std::tuple<Place<Arms>...> places_;
};

/// `co_await select(receiving(a), sending(b, item), waiting(stop), joining(handle), Sleep(5s))`: waits for
/// the first of several things, and exactly one takes effect.
///
/// Suspends: unless an arm is ready. Cancellation point: then no arm has had an effect.
/// Order:    of several that are ready, the lowest index. While it waits, the first that is served; it goes
///           into each queue as any other wait does, so selects and plain waits are served in one order.
/// Returns:  Selected: the index, and the value of that arm.
/// Throws:   what the arm that is the one throws: ChannelClosed, a thread's error; Cancelled.
/// Sleeps:   one that is due at once is ready at once: `Sleep(0s)` as the last arm asks without waiting, and
///           suspends nothing.
/// Inherits: arms that join, or lock a mutex, hand this thread's rank on.
/// Cost:     O(arms); no allocation.
template <SelectArm... Arms>
auto select(Arms&&... arms) {
  return Select<std::remove_reference_t<Arms>...>(0, arms...);
}

/// As select, but of several that are ready it takes the first from the next index in turn on: no arm that is
/// ready over and over keeps another from its turn.
///
/// The turn is taken with the call. It counts the fair selects of the executor; where two alternate in a fixed
/// pattern, give each a turn of its own, or one of them may meet the same index every time.
/// Else as select. Requires: called in a thread or post.
template <SelectArm... Arms>
auto select_fair(Arms&&... arms) {
  return Select<std::remove_reference_t<Arms>...>(Executor::current().next_turn(), arms...);
}
/// The same, counting in `turn`.
template <SelectArm... Arms>
auto select_fair(SelectTurn& turn, Arms&&... arms) {
  return Select<std::remove_reference_t<Arms>...>(turn.next(), arms...);
}

}  // namespace bide
