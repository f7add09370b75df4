#include "cli/candidate_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune::cli {

void CandidateOptions::declare(OptionSet& options, SelectionOptions& selection) {
    selection.take_candidates();
    options.many("--candidate", folder(folders_),
                 "Besides: the kernels of a folder with a launch.json\n(docs/candidates.md); --config PROVIDER:KEY is one of them");
    options.flag("--candidates-only", "Those kernels alone", alone_);
}

CandidateChoice CandidateOptions::choice(const SelectionOptions& selection) const {
    CandidateChoice choice;
    choice.only = selection.candidate();
    choice.alone = alone_ || !choice.only.empty();
    if (!choice.only.empty() && folders_.empty()) {
        throw InputError(fmt::format("--config {} is a candidate of another provider; name its folder with --candidate DIR", choice.only));
    }
    if (alone_ && folders_.empty()) {
        throw InputError(
            "--candidates-only leaves out normtune's own configurations; name what to run in their place with --candidate DIR");
    }
    if (alone_ && selection.selects_configurations()) {
        throw InputError("--candidates-only leaves out normtune's own configurations; leave out --space and --config, or it");
    }
    for (const std::string& path : folders_) {
        choice.folders.push_back(KernelFolder::load(path));
    }
    return choice;
}

Work work_of(const SelectionOptions& selection, const CandidateChoice& choice) {
    if (choice.empty() || selection.selects_problems()) {
        return selection.work();
    }
    Work work{{}, selection.space()};
    for (const auto& folder : choice.folders) {
        if (folder->single() == nullptr) {
            throw InputError(
                fmt::format("--candidate: {}: is for many shapes; say on which to try it, with --shapes or --problem", folder->path()));
        }
        const Problem& problem = folder->single()->problem;
        const bool known =
            std::any_of(work.problems.begin(), work.problems.end(), [&](const Problem& p) { return p.key() == problem.key(); });
        if (!known) {
            work.problems.push_back(problem);
        }
    }
    return work;
}

}  // namespace normtune::cli
