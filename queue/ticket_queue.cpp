#include <bide/queue/ticket_queue.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <bide/queue/require.hpp>

namespace bide {

class TicketQueue::Node : public QueueNode {
 public:
  union {
    std::uint64_t id = 0;  // while queued
    Node* next_free;       // while not
  };
};

TicketQueue::TicketQueue(Options options)
    : options_(options), queue_(RunQueue::Options{.promote_every = options.promote_every}) {}

TicketQueue::TicketQueue(TicketQueue&& other) noexcept : TicketQueue(other.options_) { swap(other); }

TicketQueue& TicketQueue::operator=(TicketQueue&& other) noexcept {
  TicketQueue(std::move(other)).swap(*this);
  return *this;
}

TicketQueue::~TicketQueue() = default;

void TicketQueue::swap(TicketQueue& other) noexcept {
  std::swap(options_, other.options_);
  std::swap(queue_, other.queue_);
  std::swap(pool_, other.pool_);
  std::swap(pool_size_, other.pool_size_);
  std::swap(free_, other.free_);
}

Ticket TicketQueue::push(std::uint64_t id, Priority priority) {
  if (const std::optional<Ticket> ticket = try_push(id, priority)) return *ticket;
  throw QueueFull("ticket queue is full: " + std::to_string(capacity()) + " tickets wait");
}

std::optional<Ticket> TicketQueue::try_push(std::uint64_t id, Priority priority) {
  require(priority <= Priority::critical, "a ticket has a class that does not exist");
  if (size() >= capacity()) return std::nullopt;
  Node& node = free_node();
  Node* const next = node.next_free;
  node.priority = priority;
  queue_.push(node);  // may throw: only then does the node leave the free list
  free_ = next;
  node.id = id;
  return Ticket{.id = id, .priority = priority, .sequence = node.sequence};
}

std::optional<Ticket> TicketQueue::pop() {
  auto* const node = static_cast<Node*>(queue_.pop(std::chrono::nanoseconds::zero()));
  if (node == nullptr) return std::nullopt;
  const Ticket ticket{.id = node->id, .priority = node->priority, .sequence = node->sequence};
  node->next_free = free_;
  free_ = node;
  return ticket;
}

TicketQueue::Node& TicketQueue::free_node() {
  if (free_ != nullptr) return *free_;
  constexpr std::size_t smallest_block = 16;
  const std::size_t count = std::min(std::max(smallest_block, pool_size_), capacity() - pool_size_);
  Node* const block = pool_.emplace_back(std::make_unique<Node[]>(count)).get();
  pool_size_ += count;
  for (std::size_t i = count; i-- != 0;) {
    block[i].next_free = free_;
    free_ = &block[i];
  }
  return *free_;
}

}  // namespace bide
