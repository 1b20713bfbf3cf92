#pragma once

namespace bide {

/// Tells a process from a child that it has forked, without a system call: a page that the kernel wipes in the child.
///
/// A driver shares its kernel objects with such a child. There, each operation but a close ends at once with `error`, and
/// nothing that the parent uses is touched.
class ForkMark {
 public:
  /// What operations end with in the child: "Resource temporarily unavailable" would be tried again, "Operation not
  /// permitted" is the truth.
  static constexpr int error = 1;  // EPERM

  /// Throws: std::system_error.
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  /// This is a child of the process that made the mark, or a child's child.
  bool in_child() const { return *page_ == 0; }

 private:
  const volatile unsigned char* page_;
};

}  // namespace bide
