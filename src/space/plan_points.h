// The points of a space on their way through planning: filters are applied one after another, each asked once per
// combination of the axes that it reads, and only where a kept point has that combination.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "space/decision_diagram.h"
#include "space/plan_filter.h"

namespace normtune {

class PlanPoints {
public:
    static constexpr std::size_t kept = static_cast<std::size_t>(-1);  // no filter took the point
    /// A point, and the first filter that took it (or `kept`).
    using Visit = std::function<void(const Configuration&, std::size_t filter)>;

    /// All points of the space, which must outlive this, are kept at first. The filters fix the order of the axes. Who
    /// took a point is remembered where `remember_takers`.
    PlanPoints(const SearchSpace& space, std::vector<PlanFilter> filters, bool remember_takers);

    std::uint64_t count_kept() const { return diagram_.count(0, root_); }
    /// The filter takes the kept points that it prunes. Throws where it is undefined on one of them.
    void apply(std::size_t filter);
    /// Gives back what the last apply() took.
    void undo() { root_ = before_; }
    /// Each kept point; the others too, where their takers are remembered. Ordered by the axes.
    void visit(const Visit& visit) const;
    /// The kept points at these places (ascending, from 0) of the order in which visit() comes to kept points; time does not grow with
    /// the others.
    void visit_kept(std::span<const std::uint64_t> places, const std::function<void(const Configuration&)>& visit) const;

private:
    using Node = DecisionDiagram::Node;
    struct Places;
    void visit_places(std::size_t level, Node node, Configuration& configuration, Places& places) const;
    void visit_below(std::size_t level, Node node, Configuration& configuration, const Visit& visit) const;
    const AxisValues& axis(std::size_t level) const { return space_->axes[order_[level]]; }

    const SearchSpace* space_;
    std::vector<FilterTable> filters_;
    std::vector<std::size_t> order_;  // positions of the axes in the space, by level
    DecisionDiagram diagram_;
    bool remember_takers_;
    Node root_;
    Node before_;
};

}  // namespace normtune
