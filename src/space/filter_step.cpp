#include "space/filter_step.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace normtune {
namespace {

using Node = DecisionDiagram::Node;
constexpr Node none = DecisionDiagram::none;
constexpr Node counted = DecisionDiagram::counted;

std::vector<std::size_t> kinds_of(std::span<const std::size_t> order, const FilterTable& filter) {
    std::vector<std::size_t> kinds;
    for (const std::size_t position : order) {
        if (filter.reads(position)) {
            kinds.push_back(filter.kinds(position));
        }
    }
    return kinds;
}

}  // namespace

FilterStep::FilterStep(DecisionDiagram& points, std::span<const std::size_t> order, FilterTable& filter, Node taker)
    : points_(points), filter_(filter), taker_(taker), levels_(order.size()), combinations_(kinds_of(order, filter)) {
    for (std::size_t level = 0; level < order.size(); ++level) {
        Level& here = levels_[level];
        here.values = points.values(level);
        here.children.resize(here.values);
        here.read = filter.reads(order[level]);
        here.rank = ranks_.size();
        if (here.read) {
            const std::size_t kinds = filter.kinds(order[level]);
            ranks_.push_back({order[level], kinds, std::vector<Node>(kinds), {}});
            read_levels_ = level + 1;
        }
    }
}

Node FilterStep::apply(Node root) {
    const Node met = project(0, root);
    const Node kept = ask(0, met, 0);
    return kept == met ? root : restrict(0, root, kept);
}

/// The combinations of the filter's axes from this level on that kept points below the node have.
Node FilterStep::project(std::size_t level, Node node) {
    if (points_.count(level, node) == 0) {
        return none;
    }
    if (level == read_levels_) {
        return counted;
    }
    Level& here = levels_[level];
    if (const std::optional<Node> known = here.projected.find(node, 0)) {
        return *known;
    }
    Node projected = none;
    if (here.read) {
        projected = project_read(here, level, node);
    } else {
        for (std::size_t i = 0; i < here.values; ++i) {
            projected = unite(here.rank, projected, project(level + 1, points_.child(level, node, i)));
        }
    }
    here.projected.add(node, 0, projected);
    return projected;
}

Node FilterStep::project_read(Level& here, std::size_t level, Node node) {
    Rank& rank = ranks_[here.rank];
    std::vector<Node> children(rank.kinds, none);
    for (std::size_t i = 0; i < here.values; ++i) {
        Node& child = children[filter_.kind(rank.position, i)];
        child = unite(here.rank + 1, child, project(level + 1, points_.child(level, node, i)));
    }
    return combinations_.make(here.rank, children);
}

Node FilterStep::unite(std::size_t rank, Node a, Node b) {
    if (a == b || b == none) {
        return a;
    }
    if (a == none) {
        return b;
    }
    // Below the last level there is one result, so that a is b there.
    if (b < a) {
        std::swap(a, b);
    }
    Rank& here = ranks_[rank];
    if (const std::optional<Node> known = here.united.find(a, b)) {
        return *known;
    }
    for (std::size_t kind = 0; kind < here.kinds; ++kind) {
        here.children[kind] = unite(rank + 1, combinations_.child(rank, a, kind), combinations_.child(rank, b, kind));
    }
    const Node united = combinations_.make(rank, here.children);
    here.united.add(a, b, united);
    return united;
}

/// Of the combinations that are met, those that the filter keeps.
Node FilterStep::ask(std::size_t rank, Node met, std::uint64_t combination) {
    if (met == none) {
        return none;
    }
    if (rank == ranks_.size()) {
        const RuleAnswer answer = filter_.answer(combination, asked_);
        if (answer == RuleAnswer::undefined) {
            filter_.fail(combination);
        }
        return answer == RuleAnswer::keeps ? counted : none;
    }
    Rank& here = ranks_[rank];
    for (std::size_t kind = 0; kind < here.kinds; ++kind) {
        filter_.set(asked_, here.position, kind);
        here.children[kind] = ask(rank + 1, combinations_.child(rank, met, kind), combination + filter_.part(here.position, kind));
    }
    return combinations_.make(rank, here.children);
}

/// The node with the kept combinations alone.
Node FilterStep::restrict(std::size_t level, Node node, Node kept) {
    if (points_.count(level, node) == 0) {
        return node;
    }
    if (kept == none) {
        return take(level, node);
    }
    if (level == read_levels_) {
        return node;
    }
    Level& here = levels_[level];
    if (const std::optional<Node> known = here.restricted.find(node, kept)) {
        return *known;
    }
    for (std::size_t i = 0; i < here.values; ++i) {
        const Node left = here.read ? combinations_.child(here.rank, kept, filter_.kind(ranks_[here.rank].position, i)) : kept;
        here.children[i] = restrict(level + 1, points_.child(level, node, i), left);
    }
    const Node restricted = points_.make(level, here.children);
    here.restricted.add(node, kept, restricted);
    return restricted;
}

/// The node with its kept points given to the taker.
Node FilterStep::take(std::size_t level, Node node) {
    if (points_.count(level, node) == 0) {
        return node;
    }
    if (taker_ == none || level == levels_.size()) {
        return taker_;
    }
    Level& here = levels_[level];
    if (const std::optional<Node> known = here.taken.find(node, 0)) {
        return *known;
    }
    for (std::size_t i = 0; i < here.values; ++i) {
        here.children[i] = take(level + 1, points_.child(level, node, i));
    }
    const Node taken = points_.make(level, here.children);
    here.taken.add(node, 0, taken);
    return taken;
}

}  // namespace normtune
