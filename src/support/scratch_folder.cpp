#include "support/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "support/descriptor.h"
#include "support/error.h"

namespace normtune {

ScratchFolder::ScratchFolder() : path_((std::filesystem::temp_directory_path() / "normtune-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
        throw SystemError(fmt::format("{}: the folder cannot be created: {}", path_, system_reason(errno)));
    }
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace normtune
