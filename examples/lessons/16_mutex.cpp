// Lesson 16: mutex
//
// What you learn: green threads don't interrupt one another, so between two awaits nothing needs a lock.
// Across an await everything may have changed. A Mutex keeps others out until its Guard goes, and an unlock
// hands it to the waiter who is first: nobody slips in between.
//
// Look at: without the lock both read 100 before either writes, and one deposit is lost. With it the second
// waits its turn, and takes 2 s for what took 1 s.
//
// Try: move the Sleep in front of the read, and leave the lock out: is the sum right? Why?

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/mutex.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

struct Account {
  int balance = 100;
  Mutex mutex{"account"};
};

long long seconds() { return now().time_since_epoch() / 1s; }

Task<> deposit(Account& account, int amount) {
  const int balance = account.balance;
  co_await Sleep(1s);  // the bank thinks
  account.balance = balance + amount;
  std::printf("  %lld s: balance %d\n", seconds(), account.balance);
}

Task<> deposit_alone(Account& account, int amount) {
  const Mutex::Guard guard = co_await account.mutex.lock();
  co_await deposit(account, amount);
}

}  // namespace

int main() {
  for (const auto& deposit_to : {deposit, deposit_alone}) {
    std::printf(deposit_to == deposit ? "without a lock\n" : "with a lock\n");
    Account account;
    Executor executor({.time = TimeMode::virtual_time});
    executor.submit(deposit_to(account, 10));
    executor.submit(deposit_to(account, 20));
    executor.run();
  }
}
