// What planning asks of a configuration, and the answers so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "space/axes.h"
#include "space/backend_traits.h"
#include "space/configuration.h"
#include "space/rules.h"
#include "space/space.h"

namespace normtune {

/// A reason to prune: a backend's limit, an axis that means nothing, or a rule.
struct PlanFilter {
    std::vector<Axis> axes;  // that `ask` reads; the answer depends on no other
    std::function<RuleAnswer(const Configuration&)> ask;
    std::function<void(const Configuration&)> fail;  // throws; called where an answer is undefined. Empty: never is
    std::vector<AlikeValues> alike = {};
};

/// A filter's answers over the combinations of its axes' values: each is asked for once, when it is wanted.
class FilterTable {
public:
    /// `axes`: the space's, whose points must fit 64 bits.
    FilterTable(PlanFilter filter, const std::vector<AxisValues>& axes);

    bool reads(std::size_t position) const { return !kinds_[position].empty(); }
    /// Of the values of an axis that it reads, how many it tells apart, and which of these one is.
    std::size_t kinds(std::size_t position) const { return reads_[read_of_[position]].values.size(); }
    std::size_t kind(std::size_t position, std::size_t index) const { return kinds_[position][index]; }
    /// A combination's number is the sum, over the axes that it reads, of the part of the value's kind.
    std::uint64_t part(std::size_t position, std::size_t kind) const { return kind * reads_[read_of_[position]].stride; }
    void set(Configuration& configuration, std::size_t position, std::size_t kind) const {
        const Read& read = reads_[read_of_[position]];
        set_axis(configuration, read.axis, read.values[kind]);
    }
    /// `configuration`: with the combination's values, at least.
    RuleAnswer answer(std::uint64_t combination, const Configuration& configuration);
    /// Does it keep all combinations? Not looked at where they are many: false.
    bool always_keeps();
    /// Throws what the filter says of a combination for which its answer is undefined.
    void fail(std::uint64_t combination) const { filter_.fail(configuration(combination)); }

private:
    struct Read {
        Axis axis;
        std::vector<int> values;  // one of each kind
        std::uint64_t stride;
    };
    Configuration configuration(std::uint64_t combination) const;

    PlanFilter filter_;
    std::vector<std::vector<std::size_t>> kinds_;  // by position in the space, and index of the value; empty: is not read
    std::vector<std::size_t> read_of_;             // by position: of reads_
    std::vector<Read> reads_;
    std::uint64_t combinations_ = 1;
    std::vector<std::uint8_t> answers_;  // empty where they would be too many
};

}  // namespace normtune
