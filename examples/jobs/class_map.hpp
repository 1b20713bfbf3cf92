#pragma once

#include <bide/queue/priority.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bide_jobs {

using bide::Priority;

/// The class that a word names, in any case: critical, high, normal, low.
std::optional<Priority> parse_class(std::string_view word);

/// Which class the jobs of a queue or a partition belong to: `queue:0=high,1=low`.
class ClassMap {
 public:
  enum class Field { none, queue, partition };

  ClassMap() = default;

  /// Throws: InputError that names the option `--classes`, what was expected and what was found.
  static ClassMap parse(std::string_view text);

  Field field() const { return field_; }

  /// The class of number `number` of the field; normal for a number that the map does not name.
  Priority of(std::int64_t number) const;

 private:
  Field field_ = Field::none;
  std::map<std::int64_t, Priority> classes_;
};

}  // namespace bide_jobs
