// Sweeps that were recorded one after the other.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "store/results.h"

namespace normtune::testing {

/// Of every file in a folder, in the order of their names.
inline std::vector<Results> recorded_sweeps(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        files.push_back(file.path().string());
    }
    std::sort(files.begin(), files.end());
    std::vector<Results> sweeps;
    for (const std::string& file : files) {
        sweeps.push_back(read_results_json(file));
    }
    return sweeps;
}

}  // namespace normtune::testing
