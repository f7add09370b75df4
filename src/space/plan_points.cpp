#include "space/plan_points.h"

#include <algorithm>
#include <utility>

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
      scratch_(order_.size()),
      remember_takers_(remember_takers),
      root_(diagram_.constant(0, DecisionDiagram::counted)),
      before_(root_) {
    for (std::size_t level = 0; level < order_.size(); ++level) {
        scratch_[level].children.resize(axis(level).values.size());
    }
}

void PlanPoints::apply(std::size_t filter) {
    Application application{filters_[filter], 0, remember_takers_ ? static_cast<Node>(first_taker + filter) : DecisionDiagram::none};
    for (std::size_t level = 0; level < order_.size(); ++level) {
        scratch_[level].restricted.clear();
        if (filters_[filter].reads(order_[level])) {
            application.levels = level + 1;
        }
    }
    before_ = root_;
    root_ = restrict(application, 0, root_, 0);
}

/// What becomes of a node depends on the values of the filter's axes above it alone. One comes again with the same
/// values by another value of an axis of which the filter takes several as one, so that it is looked up below such an axis.
Node PlanPoints::restrict(const Application& application, std::size_t level, Node node, std::uint64_t combination) {
    if (diagram_.count(level, node) == 0) {
        return node;
    }
    if (level == application.levels) {
        const RuleAnswer answer = application.filter.answer(combination);
        if (answer == RuleAnswer::undefined) {
            application.filter.fail(combination);
        }
        return answer == RuleAnswer::keeps ? node : take(level, node, application.taker);
    }
    Scratch& scratch = scratch_[level];
    const bool comes_again = level > 0 && application.filter.merges(order_[level - 1]);
    if (const std::optional<Node> known = comes_again ? scratch.restricted.find(node, combination) : std::nullopt) {
        return *known;
    }
    for (std::size_t i = 0; i < scratch.children.size(); ++i) {
        scratch.children[i] =
            restrict(application, level + 1, diagram_.child(level, node, i), combination + application.filter.part(order_[level], i));
    }
    const Node restricted = diagram_.make(level, scratch.children);
    if (comes_again) {
        scratch.restricted.add(node, combination, restricted);
    }
    return restricted;
}

/// The node with its kept points given to the taker.
Node PlanPoints::take(std::size_t level, Node node, Node taker) {
    if (diagram_.count(level, node) == 0) {
        return node;
    }
    if (taker == DecisionDiagram::none || level == order_.size()) {
        return taker;
    }
    Scratch& scratch = scratch_[level];
    if (const std::optional<Node> known = scratch.taken.find(node, taker)) {
        return *known;
    }
    for (std::size_t i = 0; i < scratch.children.size(); ++i) {
        scratch.children[i] = take(level + 1, diagram_.child(level, node, i), taker);
    }
    const Node taken = diagram_.make(level, scratch.children);
    scratch.taken.add(node, taker, taken);
    return taken;
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

}  // namespace normtune
