#include "space/plan_points.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "space/filter_step.h"

namespace normtune {
namespace {

using Node = DecisionDiagram::Node;

constexpr Node first_taker = DecisionDiagram::counted + 1;

std::vector<FilterTable> tables_of(std::vector<PlanFilter> filters, const SearchSpace& space) {
    std::vector<FilterTable> tables;
    tables.reserve(filters.size());
    for (PlanFilter& filter : filters) {
        tables.emplace_back(std::move(filter), space.axes);
    }
    return tables;
}

/// Positions of the axes in the space. Those of earlier filters come first: what these leave has few nodes.
std::vector<std::size_t> ordered_axes(std::vector<FilterTable>& filters, const SearchSpace& space) {
    std::vector<std::size_t> order;
    const auto place = [&](std::size_t position) {
        if (std::find(order.begin(), order.end(), position) == order.end()) {
            order.push_back(position);
        }
    };
    for (FilterTable& filter : filters) {
        const bool idle = filter.always_keeps();
        for (std::size_t position = 0; position < space.axes.size() && !idle; ++position) {
            if (filter.reads(position)) {
                place(position);
            }
        }
    }
    for (std::size_t position = 0; position < space.axes.size(); ++position) {
        place(position);
    }
    return order;
}

std::vector<std::size_t> sizes_of(const SearchSpace& space, const std::vector<std::size_t>& order) {
    std::vector<std::size_t> sizes;
    sizes.reserve(order.size());
    for (const std::size_t position : order) {
        sizes.push_back(space.axes[position].values.size());
    }
    return sizes;
}

}  // namespace

PlanPoints::PlanPoints(const SearchSpace& space, std::vector<PlanFilter> filters, bool remember_takers)
    : space_(&space),
      filters_(tables_of(std::move(filters), space)),
      order_(ordered_axes(filters_, space)),
      diagram_(sizes_of(space, order_)),
      remember_takers_(remember_takers),
      root_(diagram_.constant(0, DecisionDiagram::counted)),
      before_(root_) {}

void PlanPoints::apply(std::size_t filter) {
    before_ = root_;
    const Node taker = remember_takers_ ? static_cast<Node>(first_taker + filter) : DecisionDiagram::none;
    root_ = FilterStep(diagram_, order_, filters_[filter], taker).apply(root_);
}

void PlanPoints::visit(const Visit& visit) const {
    Configuration configuration;
    visit_below(0, root_, configuration, visit);
}

void PlanPoints::visit_below(std::size_t level, Node node, Configuration& configuration, const Visit& visit) const {
    if (node == DecisionDiagram::none) {
        return;
    }
    if (level == order_.size()) {
        visit(configuration, node == DecisionDiagram::counted ? kept : node - first_taker);
        return;
    }
    const AxisValues& here = axis(level);
    for (std::size_t i = 0; i < here.values.size(); ++i) {
        set_axis(configuration, here.axis, here.values[i]);
        visit_below(level + 1, diagram_.child(level, node, i), configuration, visit);
    }
}

/// What is still to be visited, and how many kept points were passed.
struct PlanPoints::Places {
    std::span<const std::uint64_t> left;
    std::uint64_t passed = 0;
    const std::function<void(const Configuration&)>& visit;
};

void PlanPoints::visit_kept(std::span<const std::uint64_t> places, const std::function<void(const Configuration&)>& visit) const {
    Configuration configuration;
    Places all{places, 0, visit};
    visit_places(0, root_, configuration, all);
}

void PlanPoints::visit_places(std::size_t level, Node node, Configuration& configuration, Places& places) const {
    const std::uint64_t end = places.passed + diagram_.count(level, node);
    if (places.left.empty() || places.left.front() >= end) {
        places.passed = end;
        return;
    }
    if (level == order_.size()) {
        places.visit(configuration);
        places.left = places.left.subspan(1);
        places.passed = end;
        return;
    }
    const AxisValues& here = axis(level);
    for (std::size_t i = 0; i < here.values.size(); ++i) {
        set_axis(configuration, here.axis, here.values[i]);
        visit_places(level + 1, diagram_.child(level, node, i), configuration, places);
    }
}

}  // namespace normtune
