#include "devices/compile/compile_cache.h"

#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/atomic_file.h"
#include "support/error.h"

namespace normtune {

namespace {

constexpr int entry_version = 1;

std::string default_folder() {
    if (const char* folder = std::getenv("NORMTUNE_CACHE_DIR"); folder != nullptr && *folder != '\0') {
        return folder;
    }
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
        return fmt::format("{}/normtune", cache);
    }
    const char* home = std::getenv("HOME");
    return fmt::format("{}/.cache/normtune", home != nullptr ? home : "/tmp");
}

/// Everything that the code depends on; the source by its hash, the rest in full so that an entry can be checked.
nlohmann::json identity(const CompileJob& job) {
    return {{"version", entry_version},
            {"compiler", job.compiler},
            {"arch", job.arch},
            {"options", job.options},
            {"source", job.source.hash()}};
}

}  // namespace

std::string code_hash(const CompiledCode& code) {
    return content_hash(code.image.data(), code.image.size());
}

SourceText::SourceText(std::string text) {
    std::string hash = content_hash(text.data(), text.size());
    shared_ = std::make_shared<const Hashed>(Hashed{std::move(text), std::move(hash)});
}

CompileCache::CompileCache(std::string folder) : folder_(folder.empty() ? default_folder() : std::move(folder)) {}

std::string CompileCache::path_of(const nlohmann::json& job) const {
    const std::string text = job.dump();
    const std::string name = content_hash(text.data(), text.size());
    return fmt::format("{}/{}/{}.bin", folder_, name.substr(0, 2), name);
}

// An entry: the length of a JSON header (8 bytes), the header, the image.
std::optional<CompiledCode> CompileCache::find(const CompileJob& job) const {
    const nlohmann::json wanted = identity(job);
    const std::string path = path_of(wanted);
    struct stat unused {};
    if (stat(path.c_str(), &unused) != 0) {
        return std::nullopt;
    }
    try {
        const std::string entry = read_file(path);
        std::uint64_t length = 0;
        if (entry.size() < sizeof length) {
            return std::nullopt;
        }
        std::memcpy(&length, entry.data(), sizeof length);
        if (length > entry.size() - sizeof length) {
            return std::nullopt;
        }
        const nlohmann::json header = nlohmann::json::parse(entry.substr(sizeof length, length));
        const std::size_t begin = sizeof length + length;
        if (header.at("identity") != wanted || header.at("image") != content_hash(entry.data() + begin, entry.size() - begin)) {
            return std::nullopt;
        }
        CompiledCode code;
        code.image.resize(entry.size() - begin);
        std::memcpy(code.image.data(), entry.data() + begin, code.image.size());
        code.log = header.at("log");
        code.registers = header.at("registers");
        code.spill_bytes = header.at("spill_bytes");
        code.shared_bytes = header.at("shared_bytes");
        code.compile_ms = header.at("compile_ms");
        return code;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

void CompileCache::store(const CompileJob& job, const CompiledCode& code) const {
    const nlohmann::json key = identity(job);
    const nlohmann::json header{{"identity", key},
                                {"image", code_hash(code)},
                                {"log", code.log},
                                {"registers", code.registers},
                                {"spill_bytes", code.spill_bytes},
                                {"shared_bytes", code.shared_bytes},
                                {"compile_ms", code.compile_ms}};
    const std::string text = header.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    const std::uint64_t length = text.size();
    std::string entry(reinterpret_cast<const char*>(&length), sizeof length);
    entry += text;
    entry.append(reinterpret_cast<const char*>(code.image.data()), code.image.size());
    const std::filesystem::path path = path_of(key);
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    try {
        if (!failed) {
            write_file_atomically(path.string(), entry);
        }
    } catch (const SystemError&) {
        // A full or read-only disk costs a compile next time, and nothing else.
    }
}

}  // namespace normtune
