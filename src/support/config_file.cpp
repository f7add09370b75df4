#include "support/config_file.h"

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/atomic_file.h"
#include "support/error.h"
#include "support/names.h"
#include "support/shipped.h"

namespace normtune {
namespace {

constexpr std::size_t most_config_bytes = std::size_t{4} << 20;

/// "qwen3" and "qwen3.yaml" are names; of paths only the repository's own folder stands for shipped files, so that a
/// mistyped path is never answered with a file that the user did not mean.
bool may_be_shipped(const std::filesystem::path& path, std::string_view folder) {
    const std::filesystem::path parent = path.parent_path();
    return parent.empty() || parent == std::filesystem::path("configs") / folder || parent == folder;
}

[[noreturn]] void fail_unknown(std::string_view folder, const std::string& path_or_name) {
    const std::vector<std::string> names = shipped_names(folder);
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string stem = std::filesystem::path(path_or_name).stem().string();
    throw InputError(fmt::format("no file {}, and none of that name among the shipped {}{}", quoted_for_message(path_or_name), folder,
                                 suggestion(stem, known.data(), known.data() + known.size())));
}

}  // namespace

ConfigFile load_config(std::string_view folder, const std::string& path_or_name) {
    if (path_or_name.empty() || path_or_name.find('\0') != std::string::npos) {
        throw InputError(fmt::format("{}: an empty or impossible file name", folder));
    }
    const std::filesystem::path path(path_or_name);
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    const bool exists = std::filesystem::exists(status);
    if (exists && !std::filesystem::is_directory(status)) {
        return {path_or_name, read_file(path_or_name, most_config_bytes)};
    }
    if (may_be_shipped(path, folder)) {
        if (const auto shipped = find_shipped(folder, path.filename().string())) {
            return {std::string(shipped->path), std::string(shipped->text)};
        }
    }
    if (exists) {
        throw InputError(path_or_name, 0, "a directory; a YAML file is needed");
    }
    fail_unknown(folder, path_or_name);
}

}  // namespace normtune
