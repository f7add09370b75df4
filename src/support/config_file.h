// Configuration files by path or by the name of a shipped one.
#pragma once

#include <string>
#include <string_view>

namespace normtune {

struct ConfigFile {
    std::string file;  // for messages: the path, or "shapes/qwen3.yaml" of a shipped one
    std::string text;
};

/// `folder` is a kind of shipped file: "shapes", "spaces", "studies", "gates". An existing file at that path wins.
/// Otherwise a shipped file: "qwen3", "qwen3.yaml", or its path in the repository ("configs/shapes/qwen3.yaml"), from
/// any folder. Throws InputError: neither (with the nearest or all shipped names), a directory, unreadable, over 4 MiB.
ConfigFile load_config(std::string_view folder, const std::string& path_or_name);

}  // namespace normtune
