// Workspaces of captured launches. A graph keeps what its launches leave at 0, so that no replay has to clear it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "driver.h"

namespace normtune_torch {

class GraphMemory {
public:
    explicit GraphMemory(const Driver& driver) : driver_(driver) {}
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;

    /// Bytes at 0, for the launches of `step` that one capture records on one stream; they follow each other. The graph and what is
    /// instantiated of it keep them; when the last of those is gone and its replays are done, a later capture may have them. `ordinal` is
    /// the current device, whose context is current. Null: the stream captures nothing any more, or no memory is left.
    char* of(int ordinal, Stream stream, const void* step, std::int64_t bytes);

private:
    using Key = std::tuple<int, std::uint64_t, Stream, const void*>;  // device, capture, stream, step
    struct Block {
        GraphMemory* owner;
        int ordinal;
        DevicePointer at;
        std::int64_t bytes;
        Key key;
    };

    Block* take(int ordinal, std::int64_t bytes);
    bool clear(const Block& block);
    void put_back(Block* block);
    static void destroyed(void* block);

    const Driver& driver_;
    std::mutex mutex_;  // not held over a driver's calls, which may destroy objects
    std::map<Key, Block*> used_;
    std::vector<Block*> free_;
    std::vector<std::unique_ptr<Block>> owned_;
    std::vector<Stream> clearing_;  // by device
};

}  // namespace normtune_torch
