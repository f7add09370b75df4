#include "support/string_interner.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace normtune {
namespace {

constexpr std::size_t arena_bytes = std::size_t{1} << 20;

}  // namespace

std::size_t StringInterner::slot_of(std::string_view text, std::size_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (slots_[slot] != 0 && texts_[slots_[slot] - 1] != text) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

std::string_view StringInterner::keep(std::string_view text) {
    if (text.empty()) {
        return {};
    }
    if (block_left_ < text.size()) {
        block_left_ = std::max(arena_bytes, text.size());
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_left_));
        next_ = blocks_.back().get();
    }
    const std::string_view kept(next_, text.copy(next_, text.size()));
    next_ += text.size();
    block_left_ -= text.size();
    return kept;
}

void StringInterner::grow() {
    slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), 0);
    for (std::size_t i = 0; i < texts_.size(); ++i) {
        slots_[slot_of(texts_[i], std::hash<std::string_view>{}(texts_[i]))] = static_cast<std::uint32_t>(i + 1);
    }
}

TextId StringInterner::intern(std::string_view text) {
    if (2 * (texts_.size() + 1) > slots_.size()) {
        grow();
    }
    const std::size_t slot = slot_of(text, std::hash<std::string_view>{}(text));
    if (slots_[slot] == 0) {
        if (texts_.size() >= UINT32_MAX - 1) {
            throw std::length_error("more distinct texts than can be numbered");
        }
        texts_.push_back(keep(text));
        slots_[slot] = static_cast<std::uint32_t>(texts_.size());
    }
    return slots_[slot] - 1;
}

std::optional<TextId> StringInterner::find(std::string_view text) const {
    if (slots_.empty()) {
        return std::nullopt;
    }
    const std::uint32_t number = slots_[slot_of(text, std::hash<std::string_view>{}(text))];
    return number == 0 ? std::nullopt : std::optional<TextId>(number - 1);
}

}  // namespace normtune
