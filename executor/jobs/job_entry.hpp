#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <bide/executor/jobs/job.hpp>
#include <bide/executor/jobs/job_handle.hpp>
#include <bide/executor/timed_call.hpp>
#include <bide/queue/queue_node.hpp>

namespace bide {

class JobEngine;
class JobPool;
class JobQueue;
class JobResource;
struct JobKind;

/// What few jobs have, so that the others don't carry it.
struct JobExtras {
  /// Whether the job has any of it.
  static bool needed_for(const Job& job) {
    constexpr RetryPolicy no_retry;
    const std::size_t texts = job.payload.size() | job.key.size() | job.tenant.size();
    return texts != 0 || !job.labels.empty() || job.duration_hint || job.timeout || job.start ||
           !job.after.empty() || !job.resources.empty() || !(job.retry == no_retry);
  }

  /// What is to happen for an edge to be satisfied, and who waits.
  struct Child {
    JobEntry* entry;
    Dependency::On on;
  };
  struct Need {
    JobResource* resource;
    std::uint64_t count;
  };

  std::string payload;
  std::string key;
  std::string tenant;
  std::map<std::string, std::string> labels;
  std::optional<Duration> hint;
  std::optional<Duration> timeout;
  std::optional<FixedStart> start;
  RetryPolicy retry{};
  std::vector<Dependency> after;     // as submitted
  std::vector<JobEntry*> parents;    // live ones that it waits for
  std::vector<std::string> awaited;  // keys that it waits for, of jobs yet to come
  std::vector<Child> children;       // blocked, each edge once
  bool doomed = false;               // a parent had ended otherwise than asked for before it came
  std::vector<Need> needs;
  JobResource* parked = nullptr;  // the resource in whose queue it waits
  Urgency lifted{};               // used while it inherits
};

/// A job as the scheduler keeps it, from submit until its end is forgotten and no handle is left.
///
/// Invariants:
/// 1. `queued()` iff it is ready, and in the JobQueue of its pool or of the resource `extras->parked`.
/// 2. It is in exactly one list: its pool's waiting ones of its class, its pool's running ones, the retained ends or
///    the dead letters; in none once it is forgotten.
/// 3. Its alarm is armed only while scheduled, retrying, leased, or waiting for a fixed start's tolerance to end.
struct JobEntry final : QueueNode, private TimedCall {
  enum class Store : std::uint8_t {
    idle,      // the store knows all there is, or there is none
    writing,   // a record is under way that has to be kept before it goes on
    finished,  // the same, of the end of an attempt
  };

  JobEntry(JobPool& of, Priority priority_of_job)
      : QueueNode(priority_of_job, &own), own_priority(priority_of_job), pool(&of) {}

  JobEngine& engine() const;

  bool leased() const { return is_leased; }
  bool waits() const { return is_live(status) && status != JobStatus::running; }
  JobExtras& more() {
    if (extras == nullptr) extras = std::make_unique<JobExtras>();
    return *extras;
  }
  const std::string& payload() const;
  const std::string& tenant() const;
  const RetryPolicy& retry() const;
  bool has_deadline() const { return deadline != Instant::max(); }

  /// The alarm. Requires: not set; the instant lies ahead.
  void set_alarm(Executor& executor, Instant at);
  void clear_alarm() noexcept {
    if (armed()) [[unlikely]]
      disarm_alarm();
  }
  bool alarm_set() const { return armed(); }

  // In the order of a dispatch, an end and what comes rarely: of 100,000 jobs that wait, each line is a cache miss.
  JobStatus status = JobStatus::ready;
  Priority own_priority;
  Store store = Store::idle;
  bool is_leased = false;
  bool cancel_requested = false;
  bool reserved = false;   // counts among its pool's reservations
  bool start_due = false;  // its fixed start has come
  bool known = false;      // by id: live or retained
  bool in_thread = false;  // an attempt's green thread lives
  bool unkept = false;     // the store failed before it had the end, which the next process will not know of
  JobStatus decided{};     // with store `finished`: what it becomes once that is kept
  std::uint32_t attempts = 0;
  Urgency own{};
  JobEntry* next = nullptr;
  JobEntry* previous = nullptr;
  JobId id = 0;
  JobPool* pool;
  Instant started{};
  JobKind* kind = nullptr;
  std::unique_ptr<JobExtras> extras;
  std::uint32_t references = 0;  // handles
  std::uint32_t failed_attempts = 0;
  Instant due_at{};  // of the alarm
  Duration estimate{};
  Instant deadline = Instant::max();  // none
  Instant submitted{};
  Instant ended{};
  JobHandle::End* first_waiter = nullptr;
  std::uint64_t thread_id = 0;
  JobOutcome outcome;
  JobWork work;

  /// Asks for all of it: it is looked at soon, and has lain untouched for long.
  void prefetch() const {
    constexpr std::size_t line = 64;
    for (std::size_t at = 0; at < sizeof(JobEntry); at += line)
      __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + at, 1);
  }

 private:
  void due() noexcept override;
  void disarm_alarm() noexcept;
};

static_assert(sizeof(void*) != 8 || sizeof(JobEntry) == 320,
              "five lines of a cache, where they are of 64 bytes");

/// A list of entries through their own links. An entry is in one list at a time.
class JobList {
 public:
  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  JobEntry* first() const { return first_; }
  JobEntry* last() const { return last_; }
  void push_back(JobEntry& entry) {
    entry.next = nullptr;
    entry.previous = last_;
    (last_ == nullptr ? first_ : last_->next) = &entry;
    last_ = &entry;
    ++size_;
  }
  void remove(JobEntry& entry) {
    (entry.previous == nullptr ? first_ : entry.previous->next) = entry.next;
    (entry.next == nullptr ? last_ : entry.next->previous) = entry.previous;
    entry.next = entry.previous = nullptr;
    --size_;
  }

 private:
  JobEntry* first_ = nullptr;
  JobEntry* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace bide
