// The configurations that ship inside the executable (configs/ of the repository, embedded at build time).
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace normtune {

struct ShippedFile {
    std::string_view path;  // "shapes/qwen3.yaml", "spaces/quick.yaml", "studies/te_615.yaml"
    std::string_view text;
};

std::span<const ShippedFile> shipped_files();
/// "shapes", "qwen3" or "qwen3.yaml".
std::optional<ShippedFile> find_shipped(std::string_view folder, std::string_view name);

}  // namespace normtune
