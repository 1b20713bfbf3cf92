#pragma once

#include <cstdint>

#include <bide/queue/require.hpp>

namespace bide {

/// Numbers that look random and follow from a seed: the same on every compiler and machine, unlike those of the
/// standard distributions. Not for secrets.
///
/// The state is one word that grows by a constant, so every seed gives a full period of 2^64; neighbouring seeds
/// give sequences without a visible relation.
/// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (SplitMix64);
///         D. Lemire, "Fast random integer generation in an interval", TOMACS 2019
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  /// Any of the 2^64 values.
  constexpr std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  /// A number in [0, bound), each equally likely. Requires: bound > 0.
  /// Cost: one multiplication; draws again with a chance below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) noexcept {
    require(bound > 0, "Random::below is asked for a number below 0");
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      // 2^64 modulo bound: as many of the low words would give some results once more than others.
      const std::uint64_t surplus = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < surplus) product = static_cast<Wide>(next()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace bide
