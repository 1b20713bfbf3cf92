#include <bide/executor/jobs/decision_log.hpp>

#include <bide/executor/jobs/decision_ring.hpp>
#include <bide/executor/jobs/job_pool.hpp>

namespace bide {

namespace {

/// Points, with as many decimals as there are.
std::string points(urgency::Score score) {
  std::string text = std::to_string(score / 1000);
  const auto thousandths = static_cast<unsigned>(score % 1000);
  if (thousandths == 0) return text;
  std::string decimals = std::to_string(1000 + thousandths).substr(1);
  while (decimals.back() == '0') decimals.pop_back();
  return text + "." + decimals;
}

std::string terms(const Contender& contender) {
  return points(contender.score()) + " (base " + points(contender.base) + ", aging " +
         points(contender.aging) + ", urgency " + points(contender.urgency) + ")";
}

std::string latest_start(const Contender& contender) {
  return contender.latest_start ? to_string(contender.latest_start->time_since_epoch()) : "none";
}

std::string who(const Contender& contender) {
  return "job " + std::to_string(contender.id) + " (" + to_string(contender.priority) + ")";
}

}  // namespace

const char* to_string(DecisionRule rule) {
  constexpr const char* names[] = {"only_one", "fixed_start", "tenant_share", "lane",
                                   "score",    "priority",    "latest_start", "sequence"};
  return names[static_cast<std::size_t>(rule)];
}

DecisionRule rule_between(const Contender& winner, const Contender& other) {
  if (winner.priority == other.priority && winner.latest_start && other.latest_start)
    return *winner.latest_start < *other.latest_start    ? DecisionRule::lane
           : *winner.latest_start == *other.latest_start ? DecisionRule::sequence
                                                         : DecisionRule::tenant_share;
  const auto rank = [](const Contender& of) {
    return Rank{.score = of.score(),
                .priority = of.priority,
                .latest_start = of.latest_start ? of.latest_start->time_since_epoch() : Urgency::none,
                .sequence = of.sequence};
  };
  if (goes_before(rank(other), rank(winner))) return DecisionRule::tenant_share;
  if (winner.score() != other.score()) return DecisionRule::score;
  if (winner.priority != other.priority) return DecisionRule::priority;
  if (winner.latest_start != other.latest_start) return DecisionRule::latest_start;
  return DecisionRule::sequence;
}

std::string to_string(const Decision& decision) {
  const std::string at = to_string(decision.at.time_since_epoch());
  if (!decision.runner_up) return who(decision.winner) + " went at " + at + ": nothing else could have gone";
  const Contender& winner = decision.winner;
  const Contender& other = *decision.runner_up;
  std::string text = who(winner) + " went before " + who(other) + " at " + at + ": ";
  switch (decision.rule) {
    case DecisionRule::only_one:
      return text + "nothing else could have gone";
    case DecisionRule::fixed_start:
      return text + "its fixed start had come";
    case DecisionRule::tenant_share:
      return text + "it was the turn of its tenant; score " + terms(winner) + " against " + terms(other);
    case DecisionRule::lane:
      return text + "in one class the earlier latest start goes first, " + latest_start(winner) +
             " against " + latest_start(other) + "; score " + terms(winner) + " against " + terms(other);
    case DecisionRule::score:
      return text + "score " + terms(winner) + " against " + terms(other);
    case DecisionRule::priority:
      return text + "equal scores, " + terms(winner) + ", and the higher class";
    case DecisionRule::latest_start:
      return text + "equal scores, " + terms(winner) + ", and the earlier latest start, " +
             latest_start(winner) + " against " + latest_start(other);
    case DecisionRule::sequence:
      return text + "equal in all, " + terms(winner) + ", and it was ready first";
  }
  return text;
}

// ---- the ring

Contender DecisionRing::contender(const Side& side, Instant now) {
  const std::chrono::nanoseconds at = now.time_since_epoch();
  Contender contender;
  contender.id = side.id;
  contender.priority = side.priority;
  contender.base = urgency::base(side.priority);
  contender.aging = urgency::aging(subtract_saturating(at, side.urgency.waiting_since));
  contender.urgency = urgency::urgency(side.urgency.latest_start, side.urgency.horizon, at);
  if (side.urgency.latest_start != Urgency::none) contender.latest_start = Instant(side.urgency.latest_start);
  contender.sequence = side.sequence;
  return contender;
}

Contender DecisionRing::contender(const QueueNode& node, JobId id, Instant now) {
  return contender(
      Side{.id = id, .priority = node.priority, .urgency = *node.urgency, .sequence = node.sequence}, now);
}

Decision DecisionRing::decision(const Note& note) {
  Decision decision;
  decision.number = note.number;
  decision.at = note.at;
  decision.pool = note.pool->name;
  decision.winner = contender(note.winner, note.at);
  if (note.runner_up.id != 0) decision.runner_up = contender(note.runner_up, note.at);
  if (note.rule)
    decision.rule = *note.rule;
  else
    decision.rule =
        decision.runner_up ? rule_between(decision.winner, *decision.runner_up) : DecisionRule::only_one;
  return decision;
}

std::vector<Decision> DecisionRing::decisions() const {
  std::vector<Decision> all;
  all.reserve(notes_.size());
  for (std::uint64_t number = count_ - notes_.size(); number < count_; ++number)
    all.push_back(decision(notes_[number % capacity_]));
  return all;
}

std::optional<Decision> DecisionRing::won_by(JobId id) const {
  for (std::uint64_t number = count_; number > count_ - notes_.size(); --number) {
    const Note& note = notes_[(number - 1) % capacity_];
    if (note.winner.id == id) return decision(note);
  }
  return std::nullopt;
}

}  // namespace bide
