// Names contents: equal hash, equal bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace normtune {

/// 128-bit FNV-1a of the bytes, as 32 hexadecimal digits.
std::string content_hash(const void* data, std::size_t size);
std::string content_hash(std::string_view text);

}  // namespace normtune
