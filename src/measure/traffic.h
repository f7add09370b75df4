// Which signals a launch of a problem reads and writes, pass by pass: what a copy has to move to bound its kernels. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/problem.h"

namespace normtune {

/// The signals of one pass as buffers hold them. Statistics and weights are left out (a value a row, a row), so a copy of
/// these moves no more than any kernel must. Signals are all of one type and size.
struct PassTraffic {
    std::vector<TensorRole> reads;   // what is written over comes first, in the order of `writes`
    std::vector<TensorRole> writes;  // in place: the tensor that is written over
    bool in_place = false;
    friend auto operator<=>(const PassTraffic&, const PassTraffic&) = default;
};

/// The forward, the backward, or for `full` both: what the forward leaves in a cache, the backward finds there.
std::vector<PassTraffic> signal_traffic(const Problem& problem);

/// Of one signal.
std::int64_t signal_bytes(const Problem& problem);

}  // namespace normtune
