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

/// Relative error of rstd, and thereby of all that it scales: 5e-6, or from N ≈ 11,000 on what an fp32 sum of N squares
/// in any order may be off by, (4 + ¾√N)·2⁻²⁴.
double rstd_error(std::int64_t cols);

/// y against the exact oracle.
Bound y_bound(const Problem& problem);

/// dx of a row against the exact oracle. `gradient_scale`: the larger of max|rstd·m| and max|dx − ds| of the row;
/// `projection_scale`: max|(rstd³/N)·Σ(m·x)·x| of it.
Bound dx_bound(const Problem& problem, double gradient_scale, double projection_scale);

/// What fp32 arithmetic may move dx by before it is rounded: below it, a 16-bit dx is not held to the rounded oracle.
double dx_noise(const Problem& problem, double gradient_scale, double projection_scale);

/// A column of dgamma against the exact oracle. `largest`: max|dgamma| over the columns; `terms_rms`: root mean square
/// over the rows of this column's terms.
Bound dgamma_bound(const Problem& problem, double largest, double terms_rms);

/// Share of a 16-bit tensor's elements that may differ from the rounded oracle at all: fp32 errors tip a rounding over
/// only near a midpoint, so this tells the castings apart where each element's own bound cannot.
double differing_share(const Problem& problem);
/// That share of `count` elements, with six standard deviations and three elements of chance on top.
std::int64_t most_differing(double share, std::int64_t count);

}  // namespace normtune
