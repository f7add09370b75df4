#include "support/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
        throw InputError(errno == ENOENT ? fmt::format("{}: there is no such file", path)
                                         : fmt::format("{}: cannot be read: {}", path, system_reason(errno)));
    }
    struct stat status {};
    if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
        throw InputError(fmt::format("{}: is a folder where a file is needed", path));
    }
    return std::make_unique<FileSource>(path, std::move(file));
}

}  // namespace normtune
