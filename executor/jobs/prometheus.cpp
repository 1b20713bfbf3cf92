#include <bide/executor/jobs/prometheus.hpp>

#include <algorithm>

#include <bide/queue/require.hpp>

namespace bide {

namespace {

constexpr unsigned first_bucket_bits = 18;
constexpr unsigned last_bucket_bits = 48;

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
  };
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(), allowed);
}

void append_escaped(std::string& text, std::string_view value, std::string_view special) {
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
    } else {
      if (special.find(c) != std::string_view::npos) text += '\\';
      text += c;
    }
  }
}

std::string in_seconds(std::uint64_t seconds, std::uint32_t nanoseconds) {
  std::string text = std::to_string(seconds);
  if (nanoseconds == 0) return text;
  const std::string digits = std::to_string(nanoseconds);
  text += '.' + std::string(9 - digits.size(), '0') + digits;
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::string in_seconds(Duration duration) {
  const std::uint64_t nanoseconds = duration < Duration::zero()
                                        ? 0 - static_cast<std::uint64_t>(duration.count())
                                        : static_cast<std::uint64_t>(duration.count());
  const std::string text =
      in_seconds(nanoseconds / 1'000'000'000, static_cast<std::uint32_t>(nanoseconds % 1'000'000'000));
  return duration < Duration::zero() ? "-" + text : text;
}

}  // namespace

void PrometheusText::family(std::string_view name, Type type, std::string_view help) {
  require(is_name(name), "PrometheusText: not a name of a metric");
  constexpr const char* types[] = {"counter", "gauge", "histogram"};
  name_ = name;
  text_ += "# HELP " + name_ + " ";
  append_escaped(text_, help, "\\");
  text_ += "\n# TYPE " + name_ + " " + types[static_cast<std::size_t>(type)] + "\n";
}

void PrometheusText::sample(Labels labels, std::uint64_t value) {
  line("", labels, "", std::to_string(value));
}
void PrometheusText::sample(Labels labels, Duration value) { line("", labels, "", in_seconds(value)); }

void PrometheusText::sample(Labels labels, const DurationHistogram& histogram) {
  for (unsigned bits = first_bucket_bits; bits <= last_bucket_bits; bits += 2) {
    const Duration bound((Duration::rep{1} << bits) - 1);
    line("_bucket", labels, in_seconds(bound), std::to_string(histogram.count_up_to(bound)));
  }
  const std::string count = std::to_string(histogram.count());
  line("_bucket", labels, "+Inf", count);
  const auto [seconds, nanoseconds] = histogram.sum();
  line("_sum", labels, "", in_seconds(seconds, nanoseconds));
  line("_count", labels, "", count);
}

void PrometheusText::line(std::string_view suffix, Labels labels, std::string_view bound,
                          std::string_view value) {
  require(!name_.empty(), "PrometheusText: a sample needs a family");
  text_ += name_;
  text_ += suffix;
  char before = '{';
  const auto label = [&](std::string_view name, std::string_view text) {
    require(is_name(name), "PrometheusText: not a name of a label");
    text_ += before;
    text_ += name;
    text_ += "=\"";
    append_escaped(text_, text, "\\\"");
    text_ += '"';
    before = ',';
  };
  for (const auto& [name, text] : labels) label(name, text);
  if (!bound.empty()) label("le", bound);
  if (before == ',') text_ += '}';
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

}  // namespace bide
