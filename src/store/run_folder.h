// The folder that a run writes into.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "store/results.h"
#include "support/descriptor.h"

namespace normtune {

/// A new folder for a run, empty and writable; returns its path. `out` empty: "results/run-20261120T235959Z-1f3a" below
/// the present folder, never one that is there already. Else `out` itself (with its parents), which must not exist or
/// be an empty folder. Throws InputError (in use, a file) and SystemError (cannot be created or written).
std::string create_run_folder(const std::string& out);

/// Such a folder; one that holds nothing at the end, for the run could not start, is taken away again with the parents made for it.
/// One that another run made anew at its path is that one's: it stays.
class NewRunFolder {
public:
    explicit NewRunFolder(const std::string& out);
    ~NewRunFolder();
    NewRunFolder(const NewRunFolder&) = delete;
    NewRunFolder& operator=(const NewRunFolder&) = delete;

    const std::string& path() const { return path_; }

private:
    std::filesystem::path kept_;  // was there before
    std::string path_;
    Descriptor folder_;  // open: while it is, no other folder gets its number
};

/// Fills a folder that is there and empty with what `write` leaves in the folder that it is given, which is a temporary one in it: all of
/// it once it is whole, or it stays empty. The folder itself stays as it is. Throws SystemError, and what `write` throws.
void fill_folder(const std::string& folder, const std::function<void(const std::string&)>& write);
void fill_result_folder(const std::string& folder, const Results& results);

/// Of a path that results are to be read from. Throws InputError where it is a run's journal, or the folder of a run
/// that has a journal and no results yet.
void require_results(const std::string& path);

}  // namespace normtune
