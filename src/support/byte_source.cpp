#include "support/byte_source.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include <fmt/format.h>

#include "support/descriptor.h"
#include "support/error.h"

namespace normtune {
namespace {

class FileSource : public ByteSource {
public:
    FileSource(const std::string& path, Descriptor file) : path_(path), file_(std::move(file)) {}

    std::size_t read(char* into, std::size_t most) override {
        for (;;) {
            const ssize_t got = ::read(file_.get(), into, most);
            if (got >= 0) {
                return static_cast<std::size_t>(got);
            }
            if (errno != EINTR) {
                throw InputError(fmt::format("{}: cannot be read: {}", path_, system_reason(errno)));
            }
        }
    }

private:
    std::string path_;
    Descriptor file_;
};

/// A pipe of pipe(2), as of `<(command)`: at its end it says so, whenever its writer went.
bool without_name(int pipe) {
    struct statfs system {};
    return ::fstatfs(pipe, &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

/// Of an empty pipe that was opened for reading: is anybody there who may still write? tee(2) tells, and takes nothing out of it.
bool has_writer(int pipe) {
    int beside[2];
    if (::pipe2(beside, O_CLOEXEC) != 0) {
        return true;
    }
    const Descriptor out(beside[0]);
    const Descriptor in(beside[1]);
    return ::tee(pipe, in.get(), 1, SPLICE_F_NONBLOCK) != 0;
}

}  // namespace

Descriptor open_for_reading(const std::string& path) {
    constexpr int patience_ms = 2000;
    if (path.size() >= PATH_MAX || path.find('\0') != std::string::npos) {
        throw InputError(fmt::format("{}: is no file's name ({} characters)", quoted_for_message(path), path.size()));
    }
    const auto fail = [&](std::string_view why) { throw InputError(fmt::format("{}: {}", path, why)); };
    // Without waiting: the open of a pipe without a writer would never return.
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!file.valid()) {
        fail(errno == ENOENT  ? "there is no such file"
             : errno == ENXIO ? "is a socket; a file is needed"
                              : fmt::format("cannot be read: {}", system_reason(errno)));
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        fail(fmt::format("cannot be read: {}", system_reason(errno)));
    }
    if (S_ISDIR(status.st_mode)) {
        fail("is a folder where a file is needed");
    }
    if (S_ISBLK(status.st_mode)) {
        fail("is a disk; a file is needed");
    }
    if (S_ISCHR(status.st_mode) && ::isatty(file.get()) != 1) {  // /dev/zero has no end
        fail("is a device; a file or a pipe is needed");
    }
    if (S_ISFIFO(status.st_mode) && !without_name(file.get())) {
        pollfd first{file.get(), POLLIN, 0};  // also set once a writer came and went
        int ready = 0;
        do {
            ready = ::poll(&first, 1, patience_ms);
        } while (ready < 0 && errno == EINTR);
        if (ready == 0 && !has_writer(file.get())) {
            fail("is a pipe into which nobody writes");
        }
    }
    ::fcntl(file.get(), F_SETFL, 0);
    return file;
}

std::unique_ptr<ByteSource> open_source(const std::string& path) {
    return std::make_unique<FileSource>(path, open_for_reading(path));
}

}  // namespace normtune
