#include "support/shipped.h"

#include <fmt/format.h>

namespace normtune {

std::optional<ShippedFile> find_shipped(std::string_view folder, std::string_view name) {
    const std::string exact = fmt::format("{}/{}", folder, name);
    const std::string with_ending = exact + ".yaml";
    for (const ShippedFile& file : shipped_files()) {
        if (file.path == exact || file.path == with_ending) {
            return file;
        }
    }
    return std::nullopt;
}

std::vector<std::string> shipped_names(std::string_view folder) {
    constexpr std::string_view ending = ".yaml";
    std::vector<std::string> names;
    for (const ShippedFile& shipped : shipped_files()) {
        const std::size_t slash = shipped.path.find('/');
        if (shipped.path.substr(0, slash) == folder && shipped.path.ends_with(ending)) {
            const std::string_view name = shipped.path.substr(slash + 1);
            names.emplace_back(name.substr(0, name.size() - ending.size()));
        }
    }
    return names;
}

}  // namespace normtune
