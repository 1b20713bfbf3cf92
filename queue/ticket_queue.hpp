#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <bide/queue/priority.hpp>
#include <bide/queue/queue_full.hpp>
#include <bide/queue/run_queue.hpp>

namespace bide {

/// A place in a TicketQueue. Stands for work of any size that the caller keeps.
struct Ticket {
  std::uint64_t id = 0;  ///< The caller's; may repeat.
  Priority priority = Priority::normal;
  std::uint64_t sequence = 0;  ///< The number of accepted pushes before this one.

  friend bool operator==(const Ticket&, const Ticket&) = default;
};

/// A bounded queue of tickets in strict order: higher class first, then smaller sequence.
///
///     TicketQueue queue({.capacity = 1000});
///     queue.push(7, Priority::low);
///     queue.push(8, Priority::high);
///     queue.pop()->id;   // 8
///
/// Reads no clock: the same pushes and pops give the same tickets on every machine. Low work starves under
/// endless higher work unless `promote_every` is set. Not for two threads.
class TicketQueue {
 public:
  static constexpr std::size_t default_capacity = 256;

  struct Options {
    std::size_t capacity = default_capacity;  ///< Of waiting tickets, over all classes. 0 refuses everything.
    /// After every pop of this number, counted from 1, the waiting ticket with the smallest sequence among
    /// those below `high` rises one class and keeps its sequence. 0: never. An empty pop does not count.
    std::uint64_t promote_every = 0;
  };

  TicketQueue() : TicketQueue(Options{}) {}
  explicit TicketQueue(Options options);
  /// The other queue is left empty and new, with its options.
  TicketQueue(TicketQueue&& other) noexcept;
  TicketQueue& operator=(TicketQueue&& other) noexcept;
  ~TicketQueue();

  /// Takes a place for `id`.
  ///
  /// Throws: QueueFull at capacity, whatever the class; std::bad_alloc. Either way nothing has changed, and
  ///         no sequence is used up.
  /// Cost:   O(1); allocates only to hold more tickets of a class than ever before.
  Ticket push(std::uint64_t id, Priority priority);

  /// Like push; nothing where push throws QueueFull.
  std::optional<Ticket> try_push(std::uint64_t id, Priority priority);

  /// Returns: the ticket that goes first, with the class it rose to; nothing when empty.
  std::optional<Ticket> pop();

  std::size_t size() const { return queue_.size(); }
  bool empty() const { return queue_.empty(); }
  std::size_t capacity() const { return options_.capacity; }

 private:
  class Node;

  Node& free_node();
  void swap(TicketQueue& other) noexcept;

  Options options_;
  RunQueue queue_;
  std::vector<std::unique_ptr<Node[]>> pool_;  // blocks, because a queued node stays where it is
  std::size_t pool_size_ = 0;                  // nodes in all blocks
  Node* free_ = nullptr;
};

}  // namespace bide
