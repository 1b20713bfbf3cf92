#pragma once

#include <csignal>

namespace bide {

/// Blocks the signals for the calling OS thread, once more for each that is blocked so already: several may need the same.
void block_signals(const sigset_t& signals);
/// Takes that back: with the last, what was not blocked before the first is unblocked.
void unblock_signals(const sigset_t& signals) noexcept;
/// Blocked so, once: an unblock would let it through, unless it was blocked before.
bool blocked_once(int signal) noexcept;

}  // namespace bide
