// The walk over a space's points that planning rests on: each filter is asked once per combination of the axes that it
// reads, and whole subtrees are settled where no filter is left that could say otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "problem/configuration.h"
#include "problem/rules.h"
#include "problem/space.h"

namespace normtune {

/// A reason to prune: a backend's limit, an axis that means nothing, or a rule.
struct PlanFilter {
    std::vector<Axis> axes;  // that `ask` reads; the answer depends on no other
    std::function<RuleAnswer(const Configuration&)> ask;
    std::function<void(const Configuration&)> fail;  // throws; called where an answer is undefined. Empty: never is
};

class PlanWalk {
public:
    static constexpr std::size_t kept = static_cast<std::size_t>(-1);  // no filter took the point
    /// A point, and the first filter that takes it (or `kept`).
    using Visit = std::function<void(const Configuration&, std::size_t filter)>;

    PlanWalk(const SearchSpace& space, std::vector<PlanFilter> filters);

    /// Is there a point that the first `count` filters keep? Throws where one of them is undefined on a point that the
    /// earlier ones keep and the search comes across.
    bool any_kept(std::size_t count);
    /// Does the filter keep any combination of its own axes? A cheap look before any_kept.
    bool ever_keeps(std::size_t filter) const { return filters_[filter].ever_keeps; }
    /// The filter takes nothing from now on.
    void lift(std::size_t filter);

    struct Counts {
        std::uint64_t kept = 0;
        std::vector<std::uint64_t> taken;  // by each filter: points that no earlier one takes
    };
    /// `visit` may be empty; with `visit_taken` false it sees the kept points alone.
    Counts count(bool visit_taken, const Visit& visit);

private:
    struct Filter {
        PlanFilter ask;
        // Over its axes' values; empty where that would be too large, and filled as points come where it is large.
        mutable std::vector<RuleAnswer> table;
        std::vector<std::pair<std::size_t, std::size_t>>
            strides;                      // position of an axis in the space, stride in `table`
        mutable std::vector<bool> known;  // of `table`; empty: all
        bool ever_keeps = true;
        bool always_keeps = false;
        bool lifted = false;
    };
    struct Level {
        std::size_t axis;                  // position in the space
        std::vector<std::size_t> filters;  // decided once this level's axis has its value, ascending
        std::size_t first_undecided;       // the first filter that waits for this level or a later one
        std::uint64_t points_below;        // combinations of this level's axis and the later ones
    };

    void fill_table(Filter& filter);
    void order_levels();
    RuleAnswer answer(std::size_t filter) const;
    void set(std::size_t level, std::size_t index);
    /// The first filter, before `first`, that takes the point by what level `filters` decide.
    void narrow(const std::vector<std::size_t>& filters, std::size_t& first, bool& undefined) const;
    bool survives(std::size_t level, std::size_t count);
    void descend(std::size_t level, std::size_t first, bool undefined);
    void settle(std::size_t first, bool undefined, std::uint64_t points);

    std::vector<AxisValues> axes_;
    std::vector<Filter> filters_;
    std::vector<std::size_t> constant_;  // filters that read no axis of the space
    std::vector<Level> levels_;
    std::vector<std::size_t> index_;  // of each axis's present value
    Configuration configuration_;
    Counts counts_;
    const Visit* visit_ = nullptr;
    bool visit_taken_ = false;
};

}  // namespace normtune
