// A function of several variables of few values each, as a decision diagram: equal rest functions are one node, so that
// counting and restricting take time by distinct nodes, not by points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace normtune {

/// Nodes of one order of the variables. A node stands at a level and has a child at the next one for each value of the
/// level's variable; below the last level are results. Nodes live as long as the diagram. (Multi-valued decision
/// diagrams, shared by a unique table: R. E. Bryant, Graph-based algorithms for Boolean function manipulation, 1986.)
class DecisionDiagram {
public:
    /// Of a level, or below the last one a result. Equal nodes of a level are equal functions.
    using Node = std::uint32_t;
    static constexpr Node none = 0;     // at each level: no point has a result
    static constexpr Node counted = 1;  // the result whose points count() counts; others are the caller's

    /// The number of values of each level's variable, at least one.
    explicit DecisionDiagram(const std::vector<std::size_t>& sizes);

    /// The node with these children, one for each value of the level's variable.
    Node make(std::size_t level, const std::vector<Node>& children);
    /// The node below which every point has the result.
    Node constant(std::size_t level, Node result);
    /// Of the level's variable.
    std::size_t values(std::size_t level) const { return levels_[level].size; }
    Node child(std::size_t level, Node node, std::size_t value) const { return levels_[level].of(node)[value]; }
    /// Points below the node with the result `counted`; they fit 64 bits where the product of the sizes does.
    std::uint64_t count(std::size_t level, Node node) const {
        return level == levels_.size() ? (node == counted ? 1 : 0) : levels_[level].counts[node];
    }

private:
    struct Level {
        std::size_t size;            // values of the variable
        std::vector<Node> children;  // of node after node
        std::vector<std::uint64_t> counts;
        std::vector<Node> unique;  // open addressing by a hash of the children; none: free
        const Node* of(Node node) const { return &children[node * size]; }
    };
    Node& slot(Level& level, const Node* children) const;
    void grow(Level& level) const;

    std::vector<Level> levels_;
};

}  // namespace normtune
