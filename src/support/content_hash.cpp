#include "support/content_hash.h"

#include <cstdint>

#include <fmt/format.h>

namespace normtune {

std::string content_hash(const void* data, std::size_t size) {
    // Prime 2^88 + 2^8 + 0x3b, offset basis as published by the hash's authors.
    __extension__ using Wide = unsigned __int128;
    constexpr Wide prime = (Wide{1} << 88) + 0x13b;
    Wide hash = (Wide{0x6c62272e07bb0142ULL} << 64) + 0x62b821756295c58dULL;
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) {
        hash = (hash ^ bytes[i]) * prime;
    }
    return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(hash >> 64), static_cast<std::uint64_t>(hash));
}

std::string content_hash(std::string_view text) {
    return content_hash(text.data(), text.size());
}

}  // namespace normtune
