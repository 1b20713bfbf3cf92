#include <bide/executor/jobs/job_journal.hpp>

#include <span>
#include <utility>

#include <bide/executor/io/offload.hpp>
#include <bide/executor/jobs/job_engine.hpp>
#include <bide/executor/scope/shielded.hpp>

namespace bide {

/// The thread that writes, from its submit on, also when it is destroyed before it ran.
class JobJournal::Writing {
 public:
  explicit Writing(JobJournal& journal) : journal_(&journal) {
    journal_->engine_.hold();
    journal_->writing_ = true;
  }
  Writing(Writing&& other) noexcept : journal_(std::exchange(other.journal_, nullptr)) {}
  Writing& operator=(Writing&&) = delete;
  ~Writing() {
    if (journal_ == nullptr) return;
    journal_->writing_ = false;
    journal_->engine_.journal_rests();
    journal_->engine_.let_go();
  }

 private:
  JobJournal* journal_;
};

void JobJournal::add(JobRecord record) {
  if (error_ != nullptr) return;
  records_.push_back(std::move(record));
  try {
    go_on();
  } catch (...) {
    records_.pop_back();
    throw;
  }
}

void JobJournal::go_on() {
  if (writing_ || records_.empty()) return;
  Task<> task = write_all(Writing(*this));
  const SubmitOptions options{.name = "writes jobs to their store", .priority = Priority::critical};
  if (!engine_.executor().try_submit(task, options)) engine_.ask_for_room();
}

bool JobJournal::tell_when_kept(SchedulerWait& wait) {
  if (records_.empty() && in_flight_.empty()) return false;
  (records_.empty() ? words_in_flight_ : words_).push_back({nullptr, &wait});
  return true;
}

void JobJournal::forget(const SchedulerWait& wait) noexcept {
  for (std::vector<Word>* words : {&words_, &words_in_flight_})
    for (Word& word : *words)
      if (word.wait == &wait) word.wait = nullptr;
}

Task<> JobJournal::write_all(Writing) {
  while (!records_.empty() && error_ == nullptr) co_await shielded(write_batch());
}

Task<> JobJournal::write_batch() {
  std::swap(records_, in_flight_);
  std::swap(words_, words_in_flight_);
  std::exception_ptr error;
  try {
    const auto write = [](JobStore* store, std::span<const JobRecord> batch) { store->write(batch); };
    co_await offload(write, store_, std::span<const JobRecord>(in_flight_));
  } catch (const std::exception&) {
    error = std::current_exception();
  }
  in_flight_.clear();
  if (error != nullptr) {
    error_ = error;
    give_up();
  } else {
    pass_on();
  }
}

/// Words may be left meanwhile, but only for the next batch.
void JobJournal::pass_on() {
  for (std::size_t i = 0; i < words_in_flight_.size(); ++i) {
    const Word word = words_in_flight_[i];
    if (word.entry != nullptr) engine_.kept(*word.entry);
    if (word.wait != nullptr) engine_.wake(*word.wait);
  }
  words_in_flight_.clear();
}

void JobJournal::give_up() {
  std::vector<Word> words = std::exchange(words_in_flight_, {});
  words.insert(words.end(), words_.begin(), words_.end());
  words_.clear();
  records_.clear();
  for (const Word& word : words) {
    if (word.entry != nullptr) engine_.not_kept(*word.entry);
    if (word.wait != nullptr) engine_.fail(*word.wait, error_);
  }
}

}  // namespace bide
