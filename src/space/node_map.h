// What an operation on a decision diagram has made of nodes so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "space/decision_diagram.h"

namespace normtune {

/// From a node, which is not `none`, and a number to a node. Forgets all rather than grow beyond 128 MiB.
class NodeMap {
public:
    using Node = DecisionDiagram::Node;

    std::optional<Node> find(Node node, std::uint64_t number) const;
    void add(Node node, std::uint64_t number, Node result);
    void clear();

private:
    struct Entry {
        std::uint64_t number = 0;
        Node node = DecisionDiagram::none;  // none: the place is free
        Node result = DecisionDiagram::none;
    };
    std::size_t place(Node node, std::uint64_t number) const;
    void resize(std::size_t places);

    std::vector<Entry> entries_;  // open addressing; a power of two of places, at most half of them taken
    std::size_t size_ = 0;
};

}  // namespace normtune
