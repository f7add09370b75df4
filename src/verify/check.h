// What is found of a launch's tensors becomes checks of a record, and one line that says what is wrong.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "trial/verification.h"
#include "verify/summary.h"

namespace normtune {

struct Findings {
    std::vector<TensorCheck> checks;
    std::string reason;  // one line, of the first check that failed; empty where all hold
};

/// An output against its oracle.
void check_output(const Problem& problem, const RoundingContract& contract, const OutputSummary& summary, Findings& findings);

/// An input must come back as it went in, gaps of the row stride included.
void check_input(const Problem& problem, const Tensor& tensor, std::span<const std::byte> before, std::span<const std::byte> after,
                 Findings& findings);

/// What lies in front of a tensor and behind it, half of `guard` each, and was filled with its poison.
void check_guard(const Problem& problem, const Tensor& tensor, std::span<const std::byte> guard, Findings& findings);

}  // namespace normtune
