// How a sweep is run beyond what its options say; docs/architecture.md gives the reasons.
#pragma once

#include <cstddef>

#include "measure/race.h"

namespace normtune::tuning {

inline constexpr std::size_t batch_size = 128;     // trials whose kernels and samples are held at a time
inline constexpr int most_throttled_repeats = 4;   // of one trial
inline constexpr int most_reference_failures = 2;  // of the copy, or of the empty launch, within a batch
inline constexpr int rotation_over_cache = 4;      // cold: the buffer sets take this many times the last-level cache
inline constexpr double finalists_within = 0.05;   // of the best p50
inline constexpr std::size_t most_finalists = 8;
inline constexpr int final_rounds = 12;
/// The finals go on where rounds differ much, until the usual one of those that tie is told from the winner to this, or
/// the most rounds are over: kernels of 2 us that take 2.05 or 2.25 us from round to round need them.
inline constexpr double final_resolution = 0.01;
inline constexpr int most_final_rounds = 72;
inline constexpr int least_final_rounds = 6;  // where a budget cuts the finals short
inline constexpr RaceRule race{};
inline constexpr double race_round_us = 100;     // a round of a race, and of the finals after one; on a GPU one sample
inline constexpr std::size_t most_in_race = 64;  // fewer kernels alternate, and the next race knows the best of this
/// How many of the trials that are left race next: races of much the same size.
inline constexpr std::size_t race_batch(std::size_t left) {
    const std::size_t races = (left + most_in_race - 1) / most_in_race;
    return races == 0 ? 0 : (left + races - 1) / races;
}
inline constexpr double least_slice_s = 0.5;  // of a budget: opening a problem again must be worth it
/// Of a problem's share of the budget: for the finals; and of what is left when a batch begins: to build it.
struct Shares {
    double finals;
    double build;
};
inline constexpr Shares measured_alike{0.2, 0.5};
inline constexpr Shares raced{0.1, 0.75};  // a race takes a tenth of the samples

}  // namespace normtune::tuning
