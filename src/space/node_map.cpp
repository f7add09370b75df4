#include "space/node_map.h"

#include <utility>

namespace normtune {
namespace {

constexpr std::size_t least_places = 64;
constexpr std::size_t most_places = std::size_t{1} << 23;

}  // namespace

std::size_t NodeMap::place(Node node, std::uint64_t number) const {
    const std::uint64_t hash = (number ^ (std::uint64_t{node} << 32)) * 0x9e3779b97f4a7c15U;
    const std::size_t last = entries_.size() - 1;
    auto at = static_cast<std::size_t>(hash ^ (hash >> 32)) & last;
    while (entries_[at].node != DecisionDiagram::none && (entries_[at].node != node || entries_[at].number != number)) {
        at = (at + 1) & last;
    }
    return at;
}

std::optional<NodeMap::Node> NodeMap::find(Node node, std::uint64_t number) const {
    const Entry* entry = entries_.empty() ? nullptr : &entries_[place(node, number)];
    return entry != nullptr && entry->node == node ? std::optional(entry->result) : std::nullopt;
}

void NodeMap::add(Node node, std::uint64_t number, Node result) {
    if (2 * (size_ + 1) > entries_.size()) {
        if (entries_.size() == most_places) {
            clear();
        }
        resize(entries_.empty() ? least_places : 2 * entries_.size());
    }
    entries_[place(node, number)] = {number, node, result};
    ++size_;
}

void NodeMap::resize(std::size_t places) {
    std::vector<Entry> old(places);
    old.swap(entries_);
    for (const Entry& entry : old) {
        if (entry.node != DecisionDiagram::none) {
            entries_[place(entry.node, entry.number)] = entry;
        }
    }
}

void NodeMap::clear() {
    entries_.clear();
    size_ = 0;
}

}  // namespace normtune
