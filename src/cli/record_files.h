// Result files for the commands that judge configurations, with what a file does not say of its device made up for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/option_set.h"
#include "store/results.h"

namespace normtune::cli {

class RecordFiles {
public:
    /// RESULTS, and what a CSV needs besides.
    void declare(OptionSet& options);
    /// Throws InputError: none named, or what reading them throws.
    std::vector<Results> read() const;

private:
    std::vector<std::string> files_;
    std::optional<std::int64_t> compute_units_;
};

/// Runs of one device each, by its name, in order of first appearance.
std::vector<std::vector<Results>> by_device(std::vector<Results> runs);

}  // namespace normtune::cli
