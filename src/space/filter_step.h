// One filter on the points that are left of a space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "space/decision_diagram.h"
#include "space/node_map.h"
#include "space/plan_filter.h"

namespace normtune {

/// The filter is asked about each combination of its axes' values that a point has, once; the combinations that it keeps are a decision
/// diagram of these axes alone, and the points' diagram is restricted by that one. So time grows with the combinations asked about and with
/// pairs of nodes, of which there are few, and not with combinations times nodes.
class FilterStep {
public:
    using Node = DecisionDiagram::Node;

    /// `order`: the axes' positions in the space by level of `points`. `taker`: the result of a point that the filter takes; `none` forgets
    /// it.
    FilterStep(DecisionDiagram& points, std::span<const std::size_t> order, FilterTable& filter, Node taker);

    /// What becomes of the root. Throws where the filter is undefined on a point.
    Node apply(Node root);

private:
    /// Of a level of `points`.
    struct Level {
        std::size_t values = 0;
        bool read = false;           // by the filter
        std::size_t rank = 0;        // how many levels before it the filter reads: the level of `combinations_` where it reads this one
        std::vector<Node> children;  // of the node that is being made
        NodeMap projected;           // a node of `combinations_` by node
        NodeMap restricted;          // by node and kept combinations
        NodeMap taken;               // by node
    };
    /// Of a level of `combinations_`.
    struct Rank {
        std::size_t position = 0;    // of its axis in the space
        std::size_t kinds = 0;       // of values, as the filter tells them apart
        std::vector<Node> children;  // of the node that is being made
        NodeMap united;              // by two nodes
    };

    Node project(std::size_t level, Node node);
    Node project_read(Level& here, std::size_t level, Node node);
    Node unite(std::size_t rank, Node a, Node b);
    Node ask(std::size_t rank, Node met, std::uint64_t combination);
    Node restrict(std::size_t level, Node node, Node kept);
    Node take(std::size_t level, Node node);

    DecisionDiagram& points_;
    FilterTable& filter_;
    Node taker_;
    std::vector<Level> levels_;
    std::size_t read_levels_ = 0;  // one past the last that the filter reads
    std::vector<Rank> ranks_;
    Configuration asked_;           // its axes above a combination that is asked about
    DecisionDiagram combinations_;  // of kinds of values of the filter's axes, in the order of `points`
};

}  // namespace normtune
