#include "trial/launch_manifest.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/atomic_file.h"
#include "support/content_hash.h"
#include "support/error.h"
#include "support/utf8.h"
#include "trial/candidate.h"

namespace normtune {
namespace {

constexpr std::size_t most_json_bytes = std::size_t{1} << 24;
constexpr std::size_t most_code_bytes = std::size_t{1} << 28;

std::string read_code_file(const LaunchManifest& manifest) {
    return read_file((std::filesystem::path(manifest.folder) / manifest.code_file).string(), most_code_bytes);
}

/// A manifest speaks of its own folder alone.
void check_code_file(const LaunchManifest& manifest, const std::string& where) {
    const std::filesystem::path file = std::filesystem::path(manifest.folder) / manifest.code_file;
    std::error_code failed;
    const std::filesystem::path there = std::filesystem::canonical(file, failed);
    if (std::filesystem::path(manifest.code_file).filename() != manifest.code_file || (!failed && there.parent_path() != manifest.folder)) {
        throw InputError(
            fmt::format("{}: code/file: {} is no name of a file in its folder", where, quoted_for_message(manifest.code_file)));
    }
    if (!manifest.is_source() && !manifest.code_file.ends_with(".cubin") && !manifest.code_file.ends_with(".hsaco")) {
        throw InputError(
            fmt::format("{}: code/file: {} ends in none of .cubin, .hsaco, .cu and .hip", where, quoted_for_message(manifest.code_file)));
    }
}

}  // namespace

std::shared_ptr<const LaunchManifest> load_launch_manifest(const std::string& folder) {
    const std::string file = (std::filesystem::path(folder) / "launch.json").string();
    const nlohmann::json document = parse_json(read_file(file, most_json_bytes), file);
    const std::string root = file + ": ";
    auto manifest = std::make_shared<LaunchManifest>(read_launch_manifest(JsonReader(document, root)));
    manifest->folder = std::filesystem::canonical(folder).string();
    if (!is_utf8(manifest->folder)) {
        throw InputError(fmt::format("{}: its path is not UTF-8, as the files of a run have to name it", file));
    }
    check_code_file(*manifest, file);
    if (manifest->provider.empty()) {
        manifest->provider = std::filesystem::path(manifest->folder).filename().string();
    }
    if (!is_provider(manifest->provider) || manifest->provider == own_provider) {
        throw InputError(fmt::format("{}: {} cannot be its provider; \"provider\" may name another, of letters, digits and . _ + -", file,
                                     quoted_for_message(manifest->provider)));
    }
    if (manifest->key.empty()) {
        manifest->key = manifest->plan.launches.front().kernel;
    }
    const std::string code = read_code_file(*manifest);
    manifest->code_digest = content_hash(code.data(), code.size());
    if (!manifest->is_source() && !manifest->code.hash.empty() && manifest->code.hash != manifest->code_digest) {
        throw InputError(fmt::format("{}: code/hash: is not that of {}, which is {}", file, manifest->code_file, manifest->code_digest));
    }
    return manifest;
}

std::string read_code(const LaunchManifest& manifest) {
    std::string code = read_code_file(manifest);
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
