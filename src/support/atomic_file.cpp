#include "support/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "support/byte_source.h"
#include "support/descriptor.h"
#include "support/error.h"

namespace normtune {
namespace {

[[noreturn]] void fail_to_write(const std::string& path, int error) {
    throw SystemError(fmt::format("{}: cannot be written: {}", path, system_reason(error)));
}

/// Removes the unfinished file unless it was renamed into place.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (!path_.empty()) {
            ::unlink(path_.c_str());
        }
    }
    const std::string& path() const { return path_; }
    void keep() { path_.clear(); }

private:
    std::string path_;
};

/// The name has a fixed length, so that it fits wherever the final name does; a stale one of the same process id is stepped over.
std::pair<Descriptor, std::string> create_beside(const std::filesystem::path& folder, const std::string& target) {
    static std::atomic<unsigned> count{0};
    for (int attempt = 0; attempt < 100; ++attempt) {
        const std::string path = (folder / fmt::format("{}{}-{}.tmp", temporary_prefix, ::getpid(), count++)).string();
        Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (file.valid()) {
            return {std::move(file), path};
        }
        if (errno != EEXIST) {
            break;
        }
    }
    fail_to_write(target, errno);
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view contents) {
    std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (folder.empty()) {
        folder = ".";
    }
    auto [file, temporary_path] = create_beside(folder, path);
    TemporaryFile temporary(temporary_path);
    if (const int error = write_all(file.get(), contents); error != 0) {
        fail_to_write(path, error);
    }
    if (::fsync(file.get()) != 0) {
        fail_to_write(path, errno);
    }
    if (file.close() != 0) {  // some file systems report a full disk only here
        fail_to_write(path, errno);
    }
    if (::rename(temporary.path().c_str(), path.c_str()) != 0) {
        fail_to_write(path, errno);
    }
    temporary.keep();
    if (const int error = sync_folder(folder.string()); error != 0) {
        fail_to_write(path, error);
    }
}

bool is_temporary_name(std::string_view file_name) {
    return file_name.starts_with(temporary_prefix) && file_name.ends_with(".tmp");
}

void remove_stale_temporaries(const std::string& folder) {
    std::error_code ignored;
    std::vector<std::filesystem::path> stale;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (is_temporary_name(entry.path().filename().string())) {
            stale.push_back(entry.path());
        }
    }
    for (const std::filesystem::path& path : stale) {
        std::filesystem::remove(path, ignored);
    }
}

std::string read_file(const std::string& path, std::size_t most_bytes) {
    const std::unique_ptr<ByteSource> source = open_source(path);
    std::string contents;
    char buffer[1 << 16];
    while (const std::size_t got = source->read(buffer, sizeof buffer)) {
        if (got > most_bytes - contents.size()) {
            throw InputError(fmt::format("{}: is larger than {} bytes, the most that is read", path, most_bytes));
        }
        contents.append(buffer, got);
    }
    return contents;
}

}  // namespace normtune
