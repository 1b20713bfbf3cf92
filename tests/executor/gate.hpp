#pragma once

#include <algorithm>
#include <concepts>
#include <coroutine>
#include <source_location>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/wait.hpp>

namespace bide::test {

/// The smallest thing to wait for: closed until opened, and then open for all. Shows what Wait asks for.
class Gate {
 public:
  class Pass final : public Wait {
   public:
    Pass(Gate& gate, std::source_location line) : Wait(line), gate_(gate) {}

    bool await_ready() { return enter() || gate_.open_; }
    template <std::derived_from<Frame> Promise>
    void await_suspend(std::coroutine_handle<Promise> frame) {
      gate_.waiting_.push_back(this);
      park(frame.promise());
    }
    void await_resume() const { finish(); }

    void withdraw() noexcept override {
      ++gate_.withdrawn;
      std::erase(gate_.waiting_, this);
    }
    std::string describe() const override { return "the gate"; }

   private:
    friend Gate;
    void let_through() { wake(); }
    Gate& gate_;
  };

  Pass pass(std::source_location line = std::source_location::current()) { return Pass(*this, line); }
  void open() {
    open_ = true;
    for (Pass* waiting : std::exchange(waiting_, {})) waiting->let_through();
  }
  std::size_t waiting_count() const { return waiting_.size(); }

  int withdrawn = 0;

 private:
  bool open_ = false;
  std::vector<Pass*> waiting_;
};

}  // namespace bide::test
