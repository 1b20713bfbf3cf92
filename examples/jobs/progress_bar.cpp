#include "progress_bar.hpp"

#include <ostream>
#include <utility>

namespace bide_jobs {

ProgressBar::ProgressBar(std::ostream& out, std::size_t total, Clock clock)
    : out_(out), total_(total), clock_(std::move(clock)), next_(clock_() + std::chrono::seconds(1)) {}

ProgressBar::~ProgressBar() {
  if (width_ > 0) out_ << "\r" << std::string(width_, ' ') << "\r" << std::flush;
}

std::string ProgressBar::line(std::size_t done) const {
  constexpr std::size_t cells = 40;
  std::size_t filled = total_ == 0 ? cells : done * cells / total_;
  std::size_t percent = total_ == 0 ? 100 : done * 100 / total_;
  std::string text("[");
  text.append(filled, '#').append(cells - filled, '.');
  text += "] " + std::to_string(percent) + " %, ";
  text += std::to_string(done) + " of " + std::to_string(total_) + " jobs";
  return text;
}

void ProgressBar::show(std::size_t done) {
  std::chrono::nanoseconds now = clock_();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  std::string text = line(done);
  width_ = text.size();  // the numbers only grow, so an earlier line is never longer
  out_ << "\r" << text << std::flush;
}

}  // namespace bide_jobs
