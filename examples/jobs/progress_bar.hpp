#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>

namespace bide_jobs {

/// A line on a terminal that shows how far a run is. Silent for the first second, then at most ten times a
/// second; gone when the run has ended, so that nothing stays between the output's lines.
class ProgressBar {
 public:
  using Clock = std::function<std::chrono::nanoseconds()>;  // any epoch; never going back

  /// The first second begins here.
  ProgressBar(std::ostream& out, std::size_t total, Clock clock);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Requires: done <= total.
  void show(std::size_t done);

 private:
  std::string line(std::size_t done) const;

  std::ostream& out_;
  std::size_t total_;
  Clock clock_;
  std::chrono::nanoseconds next_;
  std::size_t width_ = 0;  // of what stands on the terminal
};

}  // namespace bide_jobs
