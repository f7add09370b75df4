// How far a correct kernel's values may be from the oracle's before their last rounding. Derivations: docs/semantics.md.
#pragma once

#include <cstdint>

#include "problem/problem.h"

namespace normtune {

/// A factor that grows with the number of terms of a sum: once + root·√terms + each·terms. Terms of zero are added exactly, in any order,
/// and do not count.
struct SumBound {
    double once = 0;
    double root = 0;
    double each = 0;
    double of(std::int64_t terms) const;
};

/// Factors of what bounds an error, each in units of the quantity named. All kernels calculate in fp32: 2⁻²⁴ a rounding.
struct Bounds {
    SumBound rstd;            // of rstd, by the row's values that are not zero
    double y = 0;             // of y, where the contract's roundings are the oracle's as well
    double gradient = 0;      // of rstd·m in dx
    double projection = 0;    // of (rstd³/N)·Σ(m·x)·x in dx, beside the sum's own error
    double incoming = 0;      // of ds in dx
    SumBound row_sum;         // of |Σ(m·x)|, by its terms that are not zero
    SumBound row_terms;       // of the root mean square of those, the same
    double column_terms = 0;  // of the root mean square of the terms of a column of dgamma
    double column_walk = 0;   // times that root mean square, what terms of random sign add up to at most …
    double column_sum = 0;    // … and of what |dgamma| is beyond it, where they have one sign
    // Where dgamma is summed with the kernel's own rstd: of the root mean square times the largest deviation of rstd, times
    // that one's root, and of the largest term.
    double column_rstd = 0;
    double column_tips = 0;
    double column_tip = 0;
    double tiny = 0;  // absolute: what arithmetic may flush to zero
};
Bounds bounds_of(const Problem& problem, const RoundingContract& contract);

/// So many values of a row that are not zero, at most, that rstd's bound is half of the 1/(2N) by which N ± 1 as the divisor moves it; at
/// least 64.
std::int64_t telling_values(std::int64_t cols);

}  // namespace normtune
