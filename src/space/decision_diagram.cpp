#include "space/decision_diagram.h"

#include <algorithm>

namespace normtune {

DecisionDiagram::DecisionDiagram(const std::vector<std::size_t>& sizes) {
    for (const std::size_t size : sizes) {
        levels_.push_back({size, std::vector<Node>(size, none), {0}, std::vector<Node>(64, none)});
    }
}

DecisionDiagram::Node& DecisionDiagram::slot(Level& level, const Node* children) const {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < level.size; ++i) {
        hash = (hash ^ children[i]) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    }
    const std::size_t last = level.unique.size() - 1;
    auto at = static_cast<std::size_t>(hash) & last;
    while (level.unique[at] != none && !std::equal(children, children + level.size, level.of(level.unique[at]))) {
        at = (at + 1) & last;
    }
    return level.unique[at];
}

void DecisionDiagram::grow(Level& level) const {
    level.unique.assign(2 * level.unique.size(), none);
    for (Node node = none + 1; node < level.counts.size(); ++node) {
        slot(level, level.of(node)) = node;
    }
}

DecisionDiagram::Node DecisionDiagram::make(std::size_t level, const std::vector<Node>& children) {
    if (std::all_of(children.begin(), children.end(), [](Node child) { return child == none; })) {
        return none;
    }
    Level& here = levels_[level];
    Node& known = slot(here, children.data());
    if (known != none) {
        return known;
    }
    const auto node = static_cast<Node>(here.counts.size());
    known = node;
    here.children.insert(here.children.end(), children.begin(), children.end());
    std::uint64_t points = 0;
    for (const Node child : children) {
        points += count(level + 1, child);
    }
    here.counts.push_back(points);
    if (2 * here.counts.size() > here.unique.size()) {
        grow(here);
    }
    return node;
}

DecisionDiagram::Node DecisionDiagram::constant(std::size_t level, Node result) {
    Node node = result;
    for (std::size_t at = levels_.size(); at-- > level;) {
        node = make(at, std::vector<Node>(levels_[at].size, node));
    }
    return node;
}

}  // namespace normtune
