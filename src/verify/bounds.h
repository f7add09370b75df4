// How far from the oracles a correct kernel's outputs may be. Derivations and measured figures: docs/semantics.md.
#pragma once

#include <cstdint>

#include "problem/problem.h"

namespace normtune {

/// |got − reference| may be relative·|reference| + absolute.
struct Bound {
    double relative = 0;
    double absolute = 0;
};

/// Relative error of rstd: 5e-6, or from N ≈ 4000 on what one fp32 accumulator over a whole row may be off by:
/// (4 + ¾√N + N/125)·2⁻²⁴, a walk of N roundings and the drift that the coarse squares of bf16 add to it.
double rstd_error(std::int64_t cols);

/// y against the exact oracle. With fp32 tensors the oracle is first scaled to the kernel's own rstd, which has its own
/// bound: 16u then holds for any N and order of summation.
Bound y_bound(const Problem& problem);

/// What a row's dx is measured by.
struct RowScale {
    double gradient = 0;        // the larger of max|rstd·m| and max|dx − ds|
    double projection = 0;      // max|(rstd³/N)·Σ(m·x)·x|
    double rstd_deviation = 0;  // |kernel's rstd / oracle's − 1|, within its own bound; 0 where rstd is an input
};

/// dx of a row against the exact oracle.
Bound dx_bound(const Problem& problem, const RowScale& row);

/// What fp32 arithmetic may move dx by before it is rounded: below it, a 16-bit dx is not held to the rounded oracle.
double dx_noise(const RowScale& row);

/// A column of dgamma against the exact oracle. `largest`: max|dgamma| over the columns; `terms_rms`: root mean square
/// over the rows of this column's terms; `rstd_deviation`: the largest of all rows.
Bound dgamma_bound(const Problem& problem, double largest, double terms_rms, double rstd_deviation);

/// Share of a 16-bit tensor's elements that may differ from the rounded oracle at all: fp32 errors tip a rounding over
/// only near a midpoint, so this tells the castings apart where each element's own bound cannot.
double differing_share(const Problem& problem);
/// That share of `count` elements, with six standard deviations and three elements of chance on top.
std::int64_t most_differing(double share, std::int64_t count);

}  // namespace normtune
