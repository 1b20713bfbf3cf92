#pragma once

#include "input_error.hpp"
#include "job.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bide_jobs {

/// The column `after` of a file: names, which may stand on later lines, so they are looked up when all are read.
class AfterNames {
 public:
  /// The field of the job that is being read: `build; test:done; deploy:failed`. `position`: of its first character.
  void add(std::string_view field, Position position);
  void end_job() { ++job_; }

  /// Writes Job::after of each.
  /// Requires: the jobs in the order in which they were read.
  /// Throws:   InputError for a name that no job, or more than one, has, and for jobs that wait for each other.
  void resolve(std::vector<Job>& jobs, const std::string& source) const;

 private:
  struct Mention {
    std::size_t job = 0;
    std::string name;
    After::On on = After::On::success;
    Position position;
  };

  std::size_t job_ = 0;
  std::vector<Mention> mentions_;  // in the order of the file
};

}  // namespace bide_jobs
