// How a sweep is run beyond what its options say; docs/architecture.md gives the reasons.
#pragma once

#include <cstddef>

namespace normtune::tuning {

inline constexpr std::size_t batch_size = 128;     // trials whose kernels and samples are held at a time
inline constexpr int most_throttled_repeats = 4;   // of one trial
inline constexpr int most_reference_failures = 2;  // of the copy, or of the empty launch, within a batch
inline constexpr int rotation_over_cache = 4;      // cold: the buffer sets take this many times the last-level cache
inline constexpr double finalists_within = 0.05;   // of the best p50
inline constexpr std::size_t most_finalists = 8;
inline constexpr int final_rounds = 15;
inline constexpr int least_final_rounds = 6;        // where a budget cuts the finals short
inline constexpr double budget_for_finals = 0.2;    // of a problem's share
inline constexpr double batch_time_to_build = 0.5;  // of what is left of a problem's share when a batch begins

}  // namespace normtune::tuning
