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

}  // namespace normtune
