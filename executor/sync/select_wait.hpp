#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include <bide/executor/sleep.hpp>
#include <bide/executor/timed_call.hpp>
#include <bide/executor/wait.hpp>

namespace bide {

/// Whose turn it is among the arms of a fair select.
class SelectTurn {
 public:
  SelectTurn() = default;

  /// 0, 1, 2, and so on.
  std::uint64_t next() { return selects_++; }

 private:
  std::uint64_t selects_ = 0;
};

/// Select without the types of its arms. Each arm is a wait of its own, queued where it waits. The first that
/// is woken withdraws the others before the thread becomes ready, so no second one can be served.
class SelectWait : public Wait {
 public:
  bool ask_to_end() noexcept override;
  void withdraw() noexcept override;
  void withdrawn() noexcept override;
  void settle(Wait& succeeded) override;
  std::string describe() const override;
  std::string remedy() const override { return "end any of these waits"; }
  std::vector<const GreenThread*> waits_for() const override;
  GreenThread* rank_changed() override;

 protected:
  /// Of several arms that are ready it takes the first from arm `turn` modulo their number on.
  explicit SelectWait(std::uint64_t turn) : Wait(std::source_location()), turn_(turn) {}
  ~SelectWait() = default;

  void set_arms(Wait** arms, std::size_t count) {
    arms_ = arms;
    count_ = count;
    set_where(arms[0]->where());
  }
  std::size_t first_to_try(std::size_t count) const { return turn_ % count; }

  std::size_t selected_ = 0;

 private:
  Wait** arms_ = nullptr;
  std::size_t count_ = 0;
  std::uint64_t turn_;
};

/// Sleep as an arm of a select.
class SelectSleep final : public Wait, private TimedCall {
 public:
  explicit SelectSleep(const SleepUntil& sleep) : Wait(sleep.where()), due_(sleep.due()) {}

  bool await_ready() { return enter() || due_ <= bide::now(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
    arm(*thread()->executor, due_);
  }
  void await_resume() const { finish(); }

  void withdraw() noexcept override { disarm(); }
  std::string describe() const override;

 private:
  void due() noexcept override { wake(); }

  Instant due_;
};

}  // namespace bide
