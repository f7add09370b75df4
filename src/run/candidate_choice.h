// The candidates of other providers that a command names, and which of them are tried on a problem.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run/python_providers.h"
#include "support/error.h"
#include "trial/kernel_folder.h"

namespace normtune {

struct CandidateChoice {
    std::vector<std::shared_ptr<const KernelFolder>> folders;
    bool alone = false;  // none of normtune's own beside them
    std::string only;    // the identity of the one candidate that is wanted of them; empty: all are
    std::vector<std::shared_ptr<const PythonProvider>> providers = {};  // that answered about the selected problems

    bool empty() const { return folders.empty() && providers.empty(); }

    struct Source {
        std::string provider;
        std::string named;   // "--candidate: FOLDER"
        std::string folder;  // empty: of a Python provider
    };
    /// In the order of plan_candidates.
    std::vector<Source> sources() const;
};

/// No source has `only` for any problem.
InputError no_such_candidate(const std::string& only);

/// Throws InputError: a folder that is for none of the problems, or `only` is of a provider that no source is.
void check_candidates(const CandidateChoice& choice, const std::vector<Problem>& problems);

/// What each folder, then each provider, gives for the problem. Throws InputError: two candidates of one name.
std::vector<FolderPlan> plan_candidates(const CandidateChoice& choice, const Problem& problem, const DeviceInfo& device,
                                        bool list_pruned = false);

/// What a problem's candidates are, for what is kept of it; empty: it has normtune's own alone.
std::string candidates_digest(const CandidateChoice& choice, const Problem& problem);

}  // namespace normtune
