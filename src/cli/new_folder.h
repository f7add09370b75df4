// The folder of a new run.
#pragma once

#include <filesystem>
#include <string>

namespace normtune::cli {

/// Created empty, with its parents. One that holds nothing at the end, for the run could not start, is taken away
/// again.
class NewFolder {
public:
    /// As create_run_folder of store/run_folder.h, which says what it throws.
    explicit NewFolder(const std::string& out);
    ~NewFolder();
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;

    const std::string& path() const { return path_; }

private:
    std::filesystem::path kept_;  // was there before
    std::string path_;
};

}  // namespace normtune::cli
