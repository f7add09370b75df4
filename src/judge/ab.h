// Two versions measured in the same rounds: which pairs became slower or faster, by what their rounds differ by. Pure; why so: docs/ab.md.
#pragma once

#include <span>
#include <string>

#include "judge/comparison.h"
#include "trial/record.h"

namespace normtune {

/// A trial of each side that were measured in turn; null: the side has none.
struct AbPair {
    const Record* before = nullptr;
    const Record* after = nullptr;
    bool launched_alike = false;  // equal machine code is then the same code
};

/// The records of a side in the order of the pairs, as rows of a report.
ResultRows ab_rows(std::span<const AbPair> pairs, const Record* AbPair::*side, const Environment& environment, std::string name);

/// The rows are those of ab_rows, and outlive the comparison. Its first pair is of the first of `pairs` of which a side was measured, and
/// so on.
Comparison judge_ab(std::span<const AbPair> pairs, const ResultRows& before, const ResultRows& after, const CompareSettings& settings);

}  // namespace normtune
