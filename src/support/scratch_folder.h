// A new folder for files that nobody needs later.
#pragma once

#include <string>
#include <string_view>

namespace normtune {

/// Goes with all that is in it.
class ScratchFolder {
public:
    /// Throws SystemError.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::string& path() const { return path_; }
    std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

private:
    std::string path_;
};

}  // namespace normtune
