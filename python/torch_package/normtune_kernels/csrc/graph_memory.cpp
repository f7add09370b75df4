#include "graph_memory.h"

#include <algorithm>

namespace normtune_torch {
namespace {

constexpr int capture_active = 1;           // CU_STREAM_CAPTURE_STATUS_ACTIVE
constexpr unsigned non_blocking = 1;        // CU_STREAM_NON_BLOCKING
constexpr unsigned no_destructor_sync = 1;  // CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
constexpr unsigned moved = 1;               // CU_GRAPH_USER_OBJECT_MOVE

}  // namespace

char* GraphMemory::of(int ordinal, Stream stream, const void* step, std::int64_t bytes) {
    int status = 0;
    std::uint64_t capture = 0;
    Graph graph = nullptr;
    if (driver_.stream_get_capture_info(stream, &status, &capture, &graph, nullptr, nullptr) != 0 || status != capture_active) {
        return nullptr;
    }
    const Key key{ordinal, capture, stream, step};
    {
        const std::lock_guard lock(mutex_);
        const auto known = used_.find(key);
        if (known != used_.end() && known->second->bytes >= bytes) {
            return reinterpret_cast<char*>(known->second->at);
        }
    }
    const Relaxed outside(driver_);
    Block* const block = take(ordinal, bytes);
    if (block == nullptr) {
        return nullptr;
    }
    block->key = key;
    UserObject object = nullptr;
    if (!clear(*block) || driver_.user_object_create(&object, block, destroyed, 1, no_destructor_sync) != 0) {
        put_back(block);
        return nullptr;
    }
    if (driver_.graph_retain_user_object(graph, object, 1, moved) != 0) {
        driver_.user_object_release(object, 1);  // which puts it back
        return nullptr;
    }
    const std::lock_guard lock(mutex_);
    used_[key] = block;  // a smaller one before it stays the graph's, for the launches that have it
    return reinterpret_cast<char*>(block->at);
}

/// The smallest free one that is large enough and not more than twice that; else a new one.
GraphMemory::Block* GraphMemory::take(int ordinal, std::int64_t bytes) {
    {
        const std::lock_guard lock(mutex_);
        auto best = free_.end();
        for (auto i = free_.begin(); i != free_.end(); ++i) {
            const Block& block = **i;
            if (block.ordinal == ordinal && block.bytes >= bytes && block.bytes <= 2 * bytes &&
                (best == free_.end() || block.bytes < (*best)->bytes)) {
                best = i;
            }
        }
        if (best != free_.end()) {
            Block* const found = *best;
            free_.erase(best);
            return found;
        }
    }
    DevicePointer at = 0;
    if (driver_.memory_allocate(&at, static_cast<std::size_t>(bytes)) != 0) {
        return nullptr;
    }
    const std::lock_guard lock(mutex_);
    owned_.push_back(std::make_unique<Block>(Block{this, ordinal, at, bytes, {}}));
    return owned_.back().get();
}

/// On a stream of its own: the one that captures would do it at every replay.
bool GraphMemory::clear(const Block& block) {
    const auto device = static_cast<std::size_t>(block.ordinal);
    Stream stream = nullptr;
    {
        const std::lock_guard lock(mutex_);
        clearing_.resize(std::max(clearing_.size(), device + 1));
        stream = clearing_[device];
    }
    if (stream == nullptr) {
        if (driver_.stream_create(&stream, non_blocking) != 0) {
            return false;
        }
        const std::lock_guard lock(mutex_);
        clearing_[device] = stream;
    }
    return driver_.memory_set(block.at, 0, static_cast<std::size_t>(block.bytes), stream) == 0 && driver_.stream_synchronize(stream) == 0;
}

void GraphMemory::put_back(Block* block) {
    const std::lock_guard lock(mutex_);
    const auto known = used_.find(block->key);
    if (known != used_.end() && known->second == block) {
        used_.erase(known);
    }
    free_.push_back(block);
}

void GraphMemory::destroyed(void* block) {
    auto* const mine = static_cast<Block*>(block);
    mine->owner->put_back(mine);
}

}  // namespace normtune_torch
