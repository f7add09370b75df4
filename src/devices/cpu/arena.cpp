#include "devices/cpu/arena.h"

#include <sys/mman.h>

#include <new>
#include <utility>

#include "devices/cpu/host_info.h"

namespace normtune::cpu {

Block::Block(std::int64_t bytes) {
    constexpr std::int64_t huge_page = 2 << 20;
    const std::int64_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
    void* data = mmap(nullptr, static_cast<std::size_t>(whole), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        throw std::bad_alloc();
    }
    madvise(data, static_cast<std::size_t>(whole), MADV_HUGEPAGE);  // advice: small pages do as well, only slower
    data_ = static_cast<std::byte*>(data);
    size_ = whole;
}

Block::~Block() {
    if (data_ != nullptr) {
        munmap(data_, static_cast<std::size_t>(size_));
    }
}

Block::Block(Block&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

Block Arena::take(std::int64_t bytes) {
    if (kept_.size() >= bytes) {
        return std::exchange(kept_, Block());
    }
    kept_ = Block();
    return Block(bytes);
}

void Arena::give_back(Block block) {
    if (block.size() > kept_.size()) {
        kept_ = std::move(block);
    }
}

std::int64_t Arena::available_bytes() const {
    const std::int64_t free = available_memory_bytes();
    return free == 0 ? 0 : free + kept_.size();
}

}  // namespace normtune::cpu
