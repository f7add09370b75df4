#include "devices/compile/compile_cache.h"

#include <sha256.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/atomic_file.h"
#include "support/error.h"
#include "support/user_folder.h"

namespace normtune {

namespace {

constexpr int entry_version = 2;

std::string default_folder() {
    if (const char* folder = std::getenv("NORMTUNE_CACHE_DIR"); folder != nullptr && *folder != '\0') {
        return folder;
    }
    return user_folder("XDG_CACHE_HOME", ".cache");
}

/// SHA-256, as 64 hexadecimal digits.
std::string digest(std::string_view bytes) {
    std::string out(SHA256_DIGEST_STRING_LENGTH, '\0');
    SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), out.data());
    out.pop_back();
    return out;
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

CompileCache::CompileCache(std::string folder) : folder_(folder.empty() ? default_folder() : std::move(folder)) {}

std::string CompileCache::path_of(const nlohmann::json& job) const {
    const std::string text = job.dump();
    const std::string name = content_hash(text.data(), text.size());
    return fmt::format("{}/{}/{}.bin", folder_, name.substr(0, 2), name);
}

// An entry: the digest of what follows, the length of a JSON header (8 bytes), the header, the image.
std::optional<CompiledCode> CompileCache::find(const CompileJob& job) const {
    const nlohmann::json wanted = identity(job);
    const std::string path = path_of(wanted);
    // Code is run: what others may have put there is none of ours.
    if (folder_.empty() || !only_ours(path) || !only_ours(std::filesystem::path(path).parent_path()) || !only_ours(folder_)) {
        return std::nullopt;
    }
    try {
        const std::string file = read_file(path);
        constexpr std::size_t digest_bytes = SHA256_DIGEST_STRING_LENGTH - 1;
        std::uint64_t length = 0;
        if (file.size() < digest_bytes + sizeof length) {
            return std::nullopt;
        }
        const std::string_view entry = std::string_view(file).substr(digest_bytes);
        std::memcpy(&length, entry.data(), sizeof length);
        if (length > entry.size() - sizeof length || !file.starts_with(digest(entry))) {
            return std::nullopt;
        }
        const nlohmann::json header = nlohmann::json::parse(entry.substr(sizeof length, length));
        const std::size_t begin = sizeof length + length;
        if (header.at("identity") != wanted) {
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
    if (folder_.empty()) {
        return;
    }
    const nlohmann::json key = identity(job);
    const nlohmann::json header{{"identity", key},
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
    const std::filesystem::path shelf = path.parent_path();
    std::error_code failed;
    std::filesystem::create_directories(shelf.parent_path().parent_path(), failed);
    for (const std::filesystem::path& folder : {shelf.parent_path(), shelf}) {
        ::mkdir(folder.c_str(), 0700);  // whatever the umask: others may not write it
    }
    try {
        if (std::filesystem::is_directory(shelf, failed)) {
            write_file_atomically(path.string(), digest(entry) + entry);
            ::chmod(path.c_str(), 0600);
        }
    } catch (const SystemError&) {
        // A full or read-only disk costs a compile next time, and nothing else.
    }
}

}  // namespace normtune
