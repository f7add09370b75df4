// The configurations that ship inside the executable (configs/ of the repository, embedded at build time).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace normtune {

struct ShippedFile {
    std::string_view path;  // "shapes/qwen3.yaml", "spaces/quick.yaml", "studies/te_615.yaml"
    std::string_view text;
};

std::span<const ShippedFile> shipped_files();
/// "shapes", "qwen3" or "qwen3.yaml".
std::optional<ShippedFile> find_shipped(std::string_view folder, std::string_view name);
/// Names of those of a folder, without their ending.
std::vector<std::string> shipped_names(std::string_view folder);

}  // namespace normtune
