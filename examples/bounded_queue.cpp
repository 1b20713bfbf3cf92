// Full is said at the door: a bounded queue refuses what it has no place for, whatever its priority, and a
// refused push changes nothing. There are two such doors.
//
// A TicketQueue holds places for work that you keep yourself: tickets with your id, in the order of class and
// arrival. An Executor admits so many green threads at once (`capacity`). Whoever is in has paid for all the
// places that it will ever need: a wake-up is never refused.

#include <bide/executor/executor.hpp>
#include <bide/queue/ticket_queue.hpp>

#include <chrono>
#include <cstdio>
#include <utility>

using namespace std::chrono_literals;

namespace {

void fill_a_queue() {
  bide::TicketQueue queue({.capacity = 3});
  queue.push(101, bide::Priority::low);
  queue.push(102, bide::Priority::normal);
  queue.push(103, bide::Priority::low);
  try {
    queue.push(104, bide::Priority::critical);
  } catch (const bide::QueueFull& refusal) {
    std::printf("104 is refused: %s\n", refusal.what());
  }
  std::printf("popped:");
  while (const auto ticket = queue.pop()) std::printf(" %d", static_cast<int>(ticket->id));
  std::printf("\n");
}

bide::Task<> guest(const char* name) {
  co_await bide::Sleep(10ms);
  std::printf("%s leaves\n", name);
}

void fill_an_executor() {
  bide::Executor executor({.time = bide::TimeMode::virtual_time, .capacity = 2});
  executor.submit(guest("Ann"));
  executor.submit(guest("Ben"));
  bide::Task<> third = guest("Cid");
  if (!executor.try_submit(third))
    std::printf("Cid waits outside: %zu of %zu are in\n", executor.size(), executor.capacity());
  executor.run();
  executor.submit(std::move(third));  // the task is still ours, and now there is room
  executor.run();
}

}  // namespace

int main() {
  fill_a_queue();
  fill_an_executor();
}
