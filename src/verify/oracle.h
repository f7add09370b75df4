// The float64 oracles: `exact` (no rounding besides what is stored: inputs, and s) and `rounded` (with the casting's
// rounding points, each of them rounded once from float64). Formulas: problem/operation.h and docs/semantics.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "problem/elements.h"
#include "problem/problem.h"

namespace normtune {

/// The bytes of a problem's tensors by role, each exactly Tensor::span_bytes() long.
using HostTensors = std::map<TensorRole, std::vector<std::byte>>;

/// What the outputs of a problem should be, for given inputs. Elements are kept of `rows` only.
struct Reference {
    std::int64_t cols = 0;
    std::vector<std::int64_t> rows;  // ascending; all of the problem's where it is small

    // rows.size() × cols, as the mode has them
    std::vector<double> y;         // exact
    std::vector<float> y_rounded;  // narrow types only, as dx_rounded
    std::vector<float> s;          // T(x + r); there is one right answer
    std::vector<double> dx;        // exact
    std::vector<float> dx_rounded;
    std::vector<double> gradient_scale;    // of each of `rows`: the larger of max|rstd·m| and max|dx − ds|
    std::vector<double> projection_scale;  // of each of `rows`: max|(rstd³/N)·Σ(m·x)·x|

    // of all of the problem's rows
    std::vector<double> rstd;          // exact; of the rounded squares for casting none
    std::vector<char> rstd_ambiguous;  // casting none with a 16-bit type: T(rstd) depends on rstd's last bits

    // of all columns, over all rows
    std::vector<double> dgamma;         // exact
    std::vector<double> dgamma_rms;     // root mean square over the rows of the terms that dgamma sums
    std::vector<float> dgamma_rounded;  // 16-bit dgamma of at most two rows only: longer sums blur the rounding points
};

/// Rows whose elements the oracle computes: all where there are at most `most_elements` of them; else the first and
/// last ones, those on both sides of every power of two (edges of tiles) and of the middle, and random ones.
std::vector<std::int64_t> oracle_rows(const Shape& shape, std::int64_t most_elements, std::uint64_t seed);

/// `inputs` holds every tensor that the problem reads. rstd of a backward problem is not read but added: the casting's
/// own, rounded to fp32; the oracle takes it as the exact input that it then is.
Reference compute_reference(const Problem& problem, HostTensors& inputs, std::vector<std::int64_t> rows);
/// Adds the statistics that the problem reads.
void add_statistics(const Problem& problem, const Reference& reference, HostTensors& inputs);

}  // namespace normtune
