// What planning asks of a configuration, and the answers so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "space/axes.h"
#include "space/configuration.h"
#include "space/rules.h"
#include "space/space.h"

namespace normtune {

/// A reason to prune: a backend's limit, an axis that means nothing, or a rule.
struct PlanFilter {
    std::vector<Axis> axes;  // that `ask` reads; the answer depends on no other
    std::function<RuleAnswer(const Configuration&)> ask;
    std::function<void(const Configuration&)> fail;  // throws; called where an answer is undefined. Empty: never is
};

/// A filter's answers over the combinations of its axes' values: each is asked for once, when it is wanted.
class FilterTable {
public:
    /// `axes`, the space's, must outlive the table; its points must fit 64 bits.
    FilterTable(PlanFilter filter, const std::vector<AxisValues>& axes);

    bool reads(std::size_t position) const { return strides_[position] != 0; }
    /// A combination's number is the sum of index · stride over the axes; 0 for one that the filter does not read.
    std::uint64_t stride(std::size_t position) const { return strides_[position]; }
    RuleAnswer answer(std::uint64_t combination);
    /// Does it keep all combinations? Not looked at where they are many: false.
    bool always_keeps();
    /// Throws what the filter says of a combination for which its answer is undefined.
    void fail(std::uint64_t combination) const { filter_.fail(configuration(combination)); }

private:
    struct Read {
        const AxisValues* axis;
        std::uint64_t stride;
    };
    Configuration configuration(std::uint64_t combination) const;

    PlanFilter filter_;
    std::vector<std::uint64_t> strides_;  // by position in the space
    std::vector<Read> reads_;
    std::uint64_t combinations_ = 1;
    std::vector<std::uint8_t> answers_;  // empty where they would be too many
};

}  // namespace normtune
