// Options that several commands share: kernels of other providers.
#pragma once

#include <string>
#include <vector>

#include "cli/selection_options.h"
#include "run/candidate_choice.h"

namespace normtune::cli {

class CandidateOptions {
public:
    void declare(OptionSet& options, SelectionOptions& selection);
    bool given() const { return names_sources() || alone_ || !python_.empty(); }
    bool names_sources() const { return !folders_.empty() || !providers_.empty(); }

    /// --config may be one of them. Throws InputError: options that do not go together, and what a folder throws.
    CandidateChoice choice(const SelectionOptions& selection) const;
    /// Asks the Python providers about the problems; see PythonProvider::ask.
    void ask(CandidateChoice& choice, Backend backend, const std::vector<Problem>& problems) const;

private:
    std::vector<std::string> folders_;
    std::vector<std::string> providers_;
    std::string python_;
    bool alone_ = false;
};

/// What the selection says; where it names no problem, those of the candidates. Throws InputError.
Work work_of(const SelectionOptions& selection, const CandidateChoice& choice);

}  // namespace normtune::cli
