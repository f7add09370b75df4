// Each distinct text once, by number: names that a million rows share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace normtune {

using TextId = std::uint32_t;

class StringInterner {
public:
    StringInterner() = default;
    StringInterner(StringInterner&&) noexcept = default;
    StringInterner& operator=(StringInterner&&) noexcept = default;

    /// The text's number; numbers count up from 0 in the order of first appearance.
    TextId intern(std::string_view text);
    std::optional<TextId> find(std::string_view text) const;
    std::string_view operator[](TextId id) const { return texts_[id]; }
    std::size_t size() const { return texts_.size(); }

private:
    std::size_t slot_of(std::string_view text, std::size_t hash) const;
    std::string_view keep(std::string_view text);
    void grow();

    std::vector<std::unique_ptr<char[]>> blocks_;
    char* next_ = nullptr;
    std::size_t block_left_ = 0;
    std::vector<std::string_view> texts_;
    std::vector<std::uint32_t> slots_;  // open addressing: number + 1, 0 is free
};

}  // namespace normtune
