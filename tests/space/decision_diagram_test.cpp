#include "space/decision_diagram.h"

#include <set>

#include <gtest/gtest.h>

#include "space/node_map.h"

namespace normtune {
namespace {

using Node = DecisionDiagram::Node;

TEST(DecisionDiagram, EqualFunctionsAreOneNode) {
    DecisionDiagram diagram({2, 3});
    const Node first = diagram.make(1, {1, 0, 1});
    EXPECT_EQ(diagram.make(1, {1, 0, 1}), first);
    EXPECT_NE(diagram.make(1, {1, 1, 0}), first);
    EXPECT_EQ(diagram.make(1, {0, 0, 0}), DecisionDiagram::none);
    const Node top = diagram.make(0, {first, DecisionDiagram::none});
    EXPECT_EQ(diagram.child(0, top, 0), first);
    EXPECT_EQ(diagram.child(1, diagram.child(0, top, 0), 2), DecisionDiagram::counted);
    EXPECT_EQ(diagram.child(1, diagram.child(0, top, 1), 2), DecisionDiagram::none);
}

TEST(DecisionDiagram, CountsThePointsOfTheFirstResultAlone) {
    DecisionDiagram diagram({2, 3});
    constexpr Node other = DecisionDiagram::counted + 1;
    const Node top = diagram.make(0, {diagram.make(1, {1, other, 1}), diagram.make(1, {other, 1, 0})});
    EXPECT_EQ(diagram.count(0, top), 3U);
    EXPECT_EQ(diagram.count(0, diagram.constant(0, DecisionDiagram::counted)), 6U);
    EXPECT_EQ(diagram.count(0, diagram.constant(0, other)), 0U);
}

TEST(DecisionDiagram, CountsMoreThanAnyoneCouldVisit) {
    const DecisionDiagram::Node all = DecisionDiagram::counted;
    DecisionDiagram diagram(std::vector<std::size_t>(19, 10));
    EXPECT_EQ(diagram.count(0, diagram.constant(0, all)), 10000000000000000000U);
}

TEST(DecisionDiagram, ManyNodesStayDistinct) {
    constexpr std::size_t bits = 12;
    DecisionDiagram diagram({bits});
    const auto node_of = [&](unsigned number) {
        std::vector<Node> children;
        for (std::size_t bit = 0; bit < bits; ++bit) {
            children.push_back(number >> bit & 1U);
        }
        return diagram.make(0, children);
    };
    std::set<Node> nodes;
    for (unsigned number = 0; number < 1U << bits; ++number) {
        nodes.insert(node_of(number));
    }
    EXPECT_EQ(nodes.size(), std::size_t{1} << bits);
    EXPECT_EQ(nodes.count(node_of(1234)), 1U);
    EXPECT_EQ(diagram.count(0, node_of(0b1011)), 3U);
}

TEST(NodeMap, FindsWhatWasAddedByNodeAndNumber) {
    NodeMap map;
    EXPECT_FALSE(map.find(1, 0));
    for (Node node = 1; node < 100; ++node) {
        for (std::uint64_t number = 0; number < 50; ++number) {
            map.add(node, number << 40, node + static_cast<Node>(number));
        }
    }
    for (Node node = 1; node < 100; ++node) {
        for (std::uint64_t number = 0; number < 50; ++number) {
            EXPECT_EQ(map.find(node, number << 40), node + static_cast<Node>(number));
        }
    }
    EXPECT_FALSE(map.find(100, 0));
    EXPECT_FALSE(map.find(1, 1));
    map.clear();
    EXPECT_FALSE(map.find(1, 0));
}

}  // namespace
}  // namespace normtune
