// The float64 oracle of a rounding contract: what each output of a problem is before its last rounding, with every
// rounding that the contract has. Formulas: problem/rounding.h and docs/semantics.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "problem/elements.h"
#include "problem/problem.h"
#include "verify/bounds.h"
#include "verify/summary.h"

namespace normtune {

/// The bytes of a problem's tensors by role, each exactly Tensor::span_bytes() long.
using HostTensors = std::map<TensorRole, std::vector<std::byte>>;

/// What an oracle finds out about a problem's inputs once, for all kernels: sums over rows and over columns.
struct OracleSums {
    std::vector<double> rstd;              // of each row
    std::vector<double> rstd_bound;        // how far a kernel's may be from it, relative
    std::vector<double> projection;        // of each row: Σ m·x
    std::vector<double> projection_bound;  // how far a kernel's may be from it
    std::vector<double> dgamma;            // of each column
    std::vector<double> dgamma_rms;        // root mean square of its terms
    std::vector<double> dgamma_most;       // the largest of them
};

/// `inputs` holds every tensor that the problem reads. rstd of a backward problem is what it reads; where it is missing it
/// is added: the contract's own, rounded to fp32.
OracleSums oracle_sums(const Problem& problem, const RoundingContract& contract, HostTensors& inputs);

/// What a kernel that calculates in float64 and keeps the contract would leave.
HostTensors right_outputs(const Problem& problem, const RoundingContract& contract, const HostTensors& inputs, const OracleSums& sums);

/// Every value of every output, on all cores. A row's y and dx follow the kernel's own rstd where that is within its bound:
/// how well a kernel summed is judged once, by its rstd.
std::vector<OutputSummary> compare_outputs(const Problem& problem, const RoundingContract& contract, const HostTensors& inputs,
                                           const OracleSums& sums, const HostTensors& outputs);

}  // namespace normtune
