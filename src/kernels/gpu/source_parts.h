// The files below source/, embedded at build time.
#pragma once

#include <span>
#include <string_view>

namespace normtune::gpu {

struct SourcePart {
    std::string_view path;
    std::string_view text;
};

std::span<const SourcePart> source_parts();

}  // namespace normtune::gpu
