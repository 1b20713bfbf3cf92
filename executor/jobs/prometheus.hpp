#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <bide/executor/jobs/duration_histogram.hpp>

namespace bide {

/// Metrics as text that Prometheus scrapes, format 0.0.4 ("text/plain; version=0.0.4").
///
/// A family first, then its samples. Durations are seconds, exact to the nanosecond.
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
class PrometheusText {
 public:
  enum class Type { counter, gauge, histogram };
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Requires: a name of letters, digits, '_' and ':' that does not begin with a digit, as for labels.
  void family(std::string_view name, Type type, std::string_view help);
  void sample(Labels labels, std::uint64_t value);
  void sample(Labels labels, Duration value);
  /// As a histogram: 16 buckets that end at 2^18 - 1 ns, 2^20 - 1 ns and so on, from a quarter of a millisecond to
  /// three days, which are exact; sum and count.
  void sample(Labels labels, const DurationHistogram& histogram);

  const std::string& text() const { return text_; }

 private:
  void line(std::string_view suffix, Labels labels, std::string_view bound, std::string_view value);

  std::string name_;
  std::string text_;
};

}  // namespace bide
