#pragma once

#include <cstdint>

#include <bide/executor/jobs/job.hpp>
#include <bide/executor/random.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// How long the policy has attempt `next_attempt` wait after the one before it: the initial backoff before the second,
/// multiplied for each one after that, and never more than the longest.
///
/// Units: whole nanoseconds, rounded down at each step. What is below zero counts as zero.
/// Cost:  one step for each attempt until the longest is reached.
Duration backoff(const RetryPolicy& policy, std::uint32_t next_attempt);

/// The backoff as it is waited: with full jitter anything from zero to it, each nanosecond as likely; then as long as the
/// failed attempt asked for, if that is longer.
Duration retry_delay(const RetryPolicy& policy, std::uint32_t next_attempt, Duration retry_after,
                     Random& random);

}  // namespace bide
