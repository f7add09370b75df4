// Large blocks of memory on huge pages, kept for the next problem instead of being given back: a rotation takes
// gigabytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace normtune::cpu {

/// Anonymous memory, zero when new. Move-only.
class Block {
public:
    Block() = default;
    /// Throws std::bad_alloc.
    explicit Block(std::int64_t bytes);
    ~Block();
    Block(Block&& other) noexcept;
    Block& operator=(Block&& other) noexcept;

    std::byte* data() const { return data_; }
    std::int64_t size() const { return size_; }

private:
    std::byte* data_ = nullptr;
    std::int64_t size_ = 0;
};

/// Hands out blocks and keeps the largest one that came back.
class Arena {
public:
    /// A block of at least `bytes`; its contents are unspecified. Throws std::bad_alloc.
    Block take(std::int64_t bytes);
    void give_back(Block block);
    /// What a new block may take: the memory available, and the kept block that would be given up for it. 0: unknown.
    std::int64_t available_bytes() const;

private:
    Block kept_;
};

}  // namespace normtune::cpu
