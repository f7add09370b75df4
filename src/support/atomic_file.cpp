#include "support/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "support/byte_source.h"
#include "support/descriptor.h"
#include "support/error.h"
#include "support/text_sink.h"

namespace normtune {
namespace {

[[noreturn]] void fail_to_write(const std::string& path, int error) {
    throw SystemError(fmt::format("{}: cannot be written: {}", path, system_reason(error)));
}

using Make = std::function<void(TextSink&)>;

void write_pieces(int descriptor, const std::string& path, const Make& make) {
    TextSink sink([&](std::string_view piece) {
        if (const int error = write_all(descriptor, piece); error != 0) {
            fail_to_write(path, error);
        }
    });
    make(sink);
    sink.flush();
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

/// The file that the name leads to, through links at its end; one that leads to nothing yet counts, so that it is made there.
std::filesystem::path followed(std::filesystem::path path, const std::string& target) {
    constexpr int most_links = 40;  // as Linux
    std::error_code none;
    for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(path, none)); ++links) {
        if (links == most_links) {
            fail_to_write(target, ELOOP);
        }
        const std::filesystem::path next = std::filesystem::read_symlink(path, none);
        path = next.is_absolute() ? next : path.parent_path() / next;
    }
    return path;
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// What has no name to be replaced is written as it is: devices, pipes, and what our own stdout or stderr already go to. Nobody
/// reads a pipe for this long: it is told, instead of waited for.
void write_through(const std::string& path, const struct stat& status, const Make& make) {
    constexpr auto patience = std::chrono::seconds(2);
    constexpr auto between_tries = std::chrono::milliseconds(10);
    Descriptor file;
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat own {};
        if (!file.valid() && ::fstat(standard, &own) == 0 && same_file(own, status)) {
            file = Descriptor(::fcntl(standard, F_DUPFD_CLOEXEC, 0));
        }
    }
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!file.valid()) {
        file = Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
        if (file.valid()) {
            ::fcntl(file.get(), F_SETFL, 0);  // only the open may not wait
        } else if (errno != ENXIO || !S_ISFIFO(status.st_mode)) {
            fail_to_write(path, errno);
        } else if (std::chrono::steady_clock::now() > end) {
            throw SystemError(fmt::format("{}: cannot be written: it is a pipe that nobody reads", path));
        } else {
            std::this_thread::sleep_for(between_tries);
        }
    }
    write_pieces(file.get(), path, make);
}

void replace(const std::filesystem::path& place, const std::string& path, const Make& make, const mode_t* mode) {
    const std::filesystem::path folder = place.has_parent_path() ? place.parent_path() : ".";
    auto [file, temporary_path] = create_beside(folder, path);
    TemporaryFile temporary(temporary_path);
    if (mode != nullptr) {
        ::fchmod(file.get(), *mode);  // of the file that it replaces, where the system lets us
    }
    write_pieces(file.get(), path, make);
    if (::fsync(file.get()) != 0) {
        fail_to_write(path, errno);
    }
    if (file.close() != 0) {  // some file systems report a full disk only here
        fail_to_write(path, errno);
    }
    if (::rename(temporary.path().c_str(), place.c_str()) != 0) {
        fail_to_write(path, errno);
    }
    temporary.keep();
    if (const int error = sync_folder(folder.string()); error != 0) {
        fail_to_write(path, error);
    }
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view contents) {
    write_file_atomically(path, [&](TextSink& sink) { sink += contents; });
}

void write_file_atomically(const std::string& path, const std::function<void(TextSink&)>& make) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        replace(followed(path, path), path, make, nullptr);  // new; what else is amiss is told by the attempt
        return;
    }
    if (S_ISDIR(status.st_mode)) {
        fail_to_write(path, EISDIR);
    }
    struct stat own {};
    const bool is_own =
        (::fstat(STDOUT_FILENO, &own) == 0 && same_file(own, status)) || (::fstat(STDERR_FILENO, &own) == 0 && same_file(own, status));
    const std::filesystem::path place = followed(path, path);
    struct stat named {};  // a link of /proc/self/fd may name a file that is there no more
    if (S_ISREG(status.st_mode) && !is_own && ::lstat(place.c_str(), &named) == 0 && same_file(named, status)) {
        constexpr mode_t permissions = 0777;
        const mode_t mode = status.st_mode & permissions;
        replace(place, path, make, &mode);
    } else {
        write_through(path, status, make);
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
        std::filesystem::remove_all(path, ignored);
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
