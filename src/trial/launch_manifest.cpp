#include "trial/launch_manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/content_hash.h"
#include "support/error.h"

namespace normtune {

std::string read_code(const std::string& folder, const std::string& file, const std::vector<std::string>& options) {
    return is_source_name(file) ? read_source(folder, file, options) : read_in_folder(folder, file);
}

std::string read_code(const LaunchManifest& manifest) {
    std::string code = read_code(manifest.folder, manifest.code_file, manifest.options);
    if (content_hash(code.data(), code.size()) != manifest.code_digest) {
        throw InputError(fmt::format("{}/{}: has changed since the run began", manifest.folder, manifest.code_file));
    }
    return code;
}

std::string digest(const LaunchManifest& manifest) {
    const std::string text = to_json(manifest).dump() + manifest.code_digest;
    return content_hash(text.data(), text.size());
}

}  // namespace normtune
