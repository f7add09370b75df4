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
    bool given() const { return !folders_.empty() || alone_; }
    bool names_folders() const { return !folders_.empty(); }

    /// --config may be one of them. Throws InputError: options that do not go together, and what a folder throws.
    CandidateChoice choice(const SelectionOptions& selection) const;

private:
    std::vector<std::string> folders_;
    bool alone_ = false;
};

/// What the selection says; where it names no problem, those of the candidates. Throws InputError.
Work work_of(const SelectionOptions& selection, const CandidateChoice& choice);

}  // namespace normtune::cli
