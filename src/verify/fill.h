// What verification puts into a problem's tensors: fresh random inputs, and poison where an output is to be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "problem/problem.h"

namespace normtune {

/// What a row of x holds. Most are plain: near N(0, 1) (sums of four uniforms). Some lie in wait for a defect:
enum class RowKind {
    plain,
    zeros,  // rstd is 1/√eps: eps forgotten or misplaced gives inf, NaN or another rstd
    tiny,   // of eps's own magnitude, so that eps is half of the sum
    large,  // 1000 times larger (fp16 where squares are rounded: 16, whose squares fit)
    spike,  // one element carries a fifth of the row's energy: a sum that skips its column is far off
    // dy is x, or −x: the projection is the whole row's, so that a part of it that is off shows. From N = 17,276 on only about
    // telling_values(N) of its values, at random columns, are not zero, neither of x nor of residual and dy: a divisor of N ± 1 shows
    aligned,
};

/// One of several draws of a problem of few rows, which together are those of a problem of `of` times as many: draw `index` has the rows
/// from index·M on.
struct Draw {
    int index = 0;
    int of = 1;
    friend bool operator==(const Draw&, const Draw&) = default;
};
/// As many draws as hold eight rows.
int draws_of(const Problem& problem);

/// The kind of each row depends on seed and row alone. The last row is a spike at the last column; M ≥ 5, over all draws, has all kinds. Of
/// several draws each place has a row of values in one of them. No row has zeros where the contract's own results would not be finite.
RowKind row_kind(const Problem& problem, const RoundingContract& contract, std::int64_t row, std::uint64_t seed, Draw draw = {});
/// By the contract of the problem's casting.
RowKind row_kind(const Problem& problem, std::int64_t row, std::uint64_t seed, Draw draw = {});

/// A fresh input tensor, gaps of its row stride poisoned. gamma is 1 + N(0, ¼²) less the offset; dy, ds and residual
/// are N(0, 1), residual scaled with its row of x, dy in aligned rows x (and in the last row where M < 5). rstd is no draw: the oracle
/// gives it. `contract`: the one that the outputs are judged by.
std::vector<std::byte> draw_input(const Problem& problem, const RoundingContract& contract, const Tensor& tensor, std::uint64_t seed,
                                  Draw draw = {});
/// By the contract of the problem's casting.
std::vector<std::byte> draw_input(const Problem& problem, const Tensor& tensor, std::uint64_t seed, Draw draw = {});

/// Fills with a signalling NaN that no arithmetic produces (results are quiet NaNs) and no copy of an input holds.
void poison(Dtype dtype, std::span<std::byte> bytes);
/// The four bytes that it repeats.
std::uint32_t poison_word(Dtype dtype);

}  // namespace normtune
