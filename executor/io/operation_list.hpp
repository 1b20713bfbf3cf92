#pragma once

#include <bide/executor/operation.hpp>

namespace bide {

/// Operations in the order in which they came, through their own `next` and `previous`: any can leave at once.
class OperationList {
 public:
  bool empty() const { return first_ == nullptr; }
  Operation* first() const { return first_; }

  void push(Operation& operation) noexcept {
    operation.next = nullptr;
    operation.previous = last_;
    (last_ != nullptr ? last_->next : first_) = &operation;
    last_ = &operation;
  }

  void remove(Operation& operation) noexcept {
    (operation.previous != nullptr ? operation.previous->next : first_) = operation.next;
    (operation.next != nullptr ? operation.next->previous : last_) = operation.previous;
    operation.next = operation.previous = nullptr;
  }

  /// Requires: not empty.
  Operation& pop() noexcept {
    Operation& operation = *first_;
    remove(operation);
    return operation;
  }

 private:
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
};

}  // namespace bide
