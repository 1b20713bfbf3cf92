#include <bide/executor/sync/select_wait.hpp>

namespace bide {

// For what an arm counts outside. None of them needs an answer: an operation is no arm.
bool SelectWait::ask_to_end() noexcept {
  for (std::size_t arm = 0; arm < count_; ++arm) static_cast<void>(arms_[arm]->ask_to_end());
  return false;
}

// The last first, so that in a queue where several arms wait none comes to the front on the way.
void SelectWait::withdraw() noexcept {
  for (std::size_t arm = count_; arm-- > 0;) arms_[arm]->withdraw();
}

// All have left before others are let through: what those set off could else come back to an arm.
void SelectWait::withdrawn() noexcept {
  for (std::size_t arm = 0; arm < count_; ++arm) arms_[arm]->withdrawn();
}

void SelectWait::settle(Wait& succeeded) {
  for (std::size_t arm = count_; arm-- > 0;) {
    if (arms_[arm] == &succeeded) {
      selected_ = arm;
    } else {
      static_cast<void>(arms_[arm]->ask_to_end());
      arms_[arm]->withdraw();
    }
  }
  for (std::size_t arm = 0; arm < count_; ++arm) {
    if (arm != selected_) arms_[arm]->withdrawn();
  }
}

std::string SelectWait::describe() const {
  std::string text = "the first of:";
  for (std::size_t arm = 0; arm < count_; ++arm) text += (arm > 0 ? ", " : " ") + arms_[arm]->describe();
  return text;
}

std::vector<const GreenThread*> SelectWait::waits_for() const {
  std::vector<const GreenThread*> threads;
  for (std::size_t arm = 0; arm < count_; ++arm) {
    const std::vector<const GreenThread*> of_arm = arms_[arm]->waits_for();
    threads.insert(threads.end(), of_arm.begin(), of_arm.end());
  }
  return threads;
}

GreenThread* SelectWait::rank_changed() {
  GreenThread* holder = nullptr;
  for (std::size_t arm = 0; arm < count_; ++arm) {
    GreenThread* const next = arms_[arm]->rank_changed();
    if (next == nullptr) continue;
    if (holder != nullptr) rank_again(*holder);
    holder = next;
  }
  return holder;
}

std::string SelectSleep::describe() const { return "the instant " + to_string(due_.time_since_epoch()); }

}  // namespace bide
