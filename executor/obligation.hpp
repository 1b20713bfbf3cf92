#pragma once

#include <chrono>

#include <bide/executor/green_thread.hpp>

namespace bide {

inline std::chrono::nanoseconds latest_start_of(const Urgency* urgency) {
  return urgency != nullptr ? urgency->latest_start : Urgency::none;
}

/// Which of two has to start first; nullptr: no hurry.
inline bool starts_before(const Urgency* left, const Urgency* right) {
  return latest_start_of(left) < latest_start_of(right);
}

/// What a thread owes: others wait until it lets go of a mutex, or ends. While it owes, it runs at least at the
/// class, and with the latest start time, of the most urgent of them: priority inheritance, through chains.
///
/// One for each thing that is waited for; its waiters hand in the rank of the most urgent one.
/// Invariant: linked into its holder's list if somebody waits who is more urgent than the holder is by itself.
/// Cost:      O(1) when nobody is; else O(obligations of the holder), for each thread of the chain. A thread's
///            first inheritance takes a block of the frame pool.
class Obligation {
 public:
  Obligation() {}
  Obligation(const Obligation&) = delete;
  Obligation& operator=(const Obligation&) = delete;
  ~Obligation() { let_go(); }

  GreenThread* holder() const { return holder_; }

  /// The holder is this thread from now on. Requires: none so far.
  void hold(GreenThread& thread);
  /// The holder has let go; it runs at its own class again, unless it owes elsewhere.
  void let_go() {
    if (linked_) [[unlikely]]
      return let_go_linked();
    holder_ = nullptr;
  }

  /// The most urgent waiter's rank is this now; `nobody_waits` when there is none.
  void demand(Priority priority, const Urgency* urgency);
  void nobody_waits();
  /// As `demand`, for Wait::rank_changed: leaves it to the caller to rank the holder again.
  /// Returns: the holder, if its rank may change.
  [[nodiscard]] GreenThread* note_demand(Priority priority, const Urgency* urgency);

 private:
  friend class Executor;

  void let_go_linked();
  bool matters() const;
  void link();
  void unlink();

  GreenThread* holder_ = nullptr;
  bool demanded_ = false;
  bool linked_ = false;
  // Without a value before something is demanded, or linked: most waits end before that.
  Priority priority_;
  std::chrono::nanoseconds latest_start_;  // copied: in a circle of waits it outlives whose it was
  std::chrono::nanoseconds horizon_;
  Obligation* next_;
  Obligation* previous_;
};

/// A thread's list of obligations, and what its rank was without them.
struct Debts {
  Obligation* first = nullptr;
  Urgency* own_urgency = nullptr;
  Urgency inherited[2]{};  // in turn: while the thread is queued, the one that it has there must not change

  /// Where the thread finds an urgency that it inherits. `now` is what it has.
  Urgency* inherit(std::chrono::nanoseconds latest_start, std::chrono::nanoseconds horizon,
                   const Urgency* now);
};

}  // namespace bide
