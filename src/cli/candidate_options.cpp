#include "cli/candidate_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune::cli {

namespace {

/// A shipped one, or where a factory is.
Value provider(std::vector<std::string>& target) {
    const std::vector<std::string> shipped = shipped_python_providers();
    return {"NAME", shipped, Completion::files, [&target](const std::string& word) {
                if (!names_python_provider(word)) {
                    throw InputError(fmt::format("{} is none of {}", quoted_for_message(word), python_provider_forms()));
                }
                target.push_back(word);
            }};
}

}  // namespace

void CandidateOptions::declare(OptionSet& options, SelectionOptions& selection) {
    selection.take_candidates();
    options.many("--candidate", folder(folders_),
                 "Besides: the kernels of a folder with a launch.json (docs/candidates.md); --config PROVIDER:KEY is one of them");
    options.many("--provider", provider(providers_),
                 "Besides: what a Python library launches, or MODULE:FACTORY or FILE.py:FACTORY does (docs/providers.md)");
    options.one(
        "--python", file(python_),
        "Interpreter of the providers, or its virtual environment (default: NORMTUNE_PYTHON, then that of VIRTUAL_ENV, then python3)");
    options.flag("--candidates-only", "Those kernels alone", alone_);
}

CandidateChoice CandidateOptions::choice(const SelectionOptions& selection) const {
    CandidateChoice choice;
    choice.only = selection.candidate();
    choice.alone = alone_ || !choice.only.empty();
    if (!choice.only.empty() && !names_sources()) {
        throw InputError(fmt::format("--config {} is a candidate of another provider; name its folder with --candidate DIR, or --provider",
                                     choice.only));
    }
    if (alone_ && !names_sources()) {
        throw InputError(
            "--candidates-only leaves out normtune's own configurations; name what to run in their place with --candidate DIR or "
            "--provider");
    }
    if (!python_.empty() && providers_.empty()) {
        throw InputError("--python is the interpreter of providers; name one with --provider");
    }
    if (alone_ && selection.selects_configurations()) {
        throw InputError("--candidates-only leaves out normtune's own configurations; leave out --space and --config, or it");
    }
    for (const std::string& path : folders_) {
        choice.folders.push_back(KernelFolder::load(path));
    }
    return choice;
}

void CandidateOptions::ask(CandidateChoice& choice, Backend backend, const std::vector<Problem>& problems) const {
    if (!providers_.empty()) {
        choice.providers = PythonProvider::ask({providers_, python_}, backend, problems);
    }
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
