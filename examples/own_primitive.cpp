// A primitive of your own on the mechanism that Mutex, Channel and the others stand on.
//
// A turnstile lets one waiting thread through for each coin, the most urgent first. Coins wait for threads,
// as threads wait for coins. The awaiter derives from QueuedWait, which gives it the rest: it can be
// cancelled, it is named in a Deadlock report, its waiters are ordered by class and arrival, and it is good
// in a select.

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstdio>
#include <source_location>
#include <string>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/wait_queue.hpp>

using namespace std::chrono_literals;

namespace {

class Turnstile {
 public:
  class Pass final : public bide::QueuedWait {
   public:
    Pass(Turnstile& turnstile, std::source_location where) : QueuedWait(where), turnstile_(turnstile) {}

    // True: no need to wait. When the thread is cancelled, enter() says so: touch nothing then.
    bool await_ready() {
      if (enter()) return true;
      if (turnstile_.coins_ == 0) return false;
      --turnstile_.coins_;
      return true;
    }
    template <std::derived_from<bide::Frame> Promise>
    void await_suspend(std::coroutine_handle<Promise> frame) {
      park_in(turnstile_.waiters_, frame.promise());
    }
    void await_resume() const { finish(); }  // throws Cancelled if that is how the wait ended

    std::string describe() const override { return "a coin in the turnstile"; }

   private:
    friend class Turnstile;
    Turnstile& turnstile_;
  };

  Pass pass(std::source_location where = std::source_location::current()) { return Pass(*this, where); }

  void insert_coin() {
    if (bide::QueuedWait* next = waiters_.take_first()) {
      static_cast<Pass*>(next)->wake();
    } else {
      ++coins_;
    }
  }

 private:
  int coins_ = 0;
  bide::WaitQueue waiters_;
};

bide::Task<> walks_through(Turnstile& turnstile, const char* name) {
  co_await turnstile.pass();
  std::printf("%s is through\n", name);
}

bide::Task<> has_little_time(Turnstile& turnstile) {
  const auto selected = co_await bide::select([&] { return turnstile.pass(); }, bide::Sleep(1s));
  std::puts(selected.index == 0 ? "the hurried one is through" : "the hurried one leaves");
}

}  // namespace

int main() {
  bide::Executor executor({.time = bide::TimeMode::virtual_time});
  Turnstile turnstile;
  executor.submit(walks_through(turnstile, "Ann"));
  executor.submit(walks_through(turnstile, "Bob"));
  executor.submit(walks_through(turnstile, "the doctor"), {.priority = bide::Priority::high});
  executor.submit(has_little_time(turnstile));
  executor.run_for(2s);
  turnstile.insert_coin();
  turnstile.insert_coin();
  try {
    executor.run();
  } catch (const bide::Deadlock& deadlock) {
    for (const bide::ThreadReport& thread : deadlock.threads()) {
      std::printf("thread %llu %s\n", static_cast<unsigned long long>(thread.id), thread.state.c_str());
    }
  }
}
