#include "run/candidate_trials.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "support/content_hash.h"
#include "support/error.h"
#include "trial/launch_manifest.h"

namespace normtune {
namespace {

bool is_for(const Candidate& candidate, const Problem& problem) {
    const Problem& own = candidate.manifest()->problem;
    return own.same_work(problem) && own.operation.eps == problem.operation.eps;
}

[[noreturn]] void refuse(const LaunchManifest& manifest, const std::string& why) {
    throw InputError(fmt::format("--candidate: {}: {}", manifest.folder, why));
}

}  // namespace

void check_candidates(const SweepOptions& options) {
    std::set<std::pair<std::string, std::string>> seen;
    for (const Candidate& candidate : options.candidates) {
        const LaunchManifest& manifest = *candidate.manifest();
        const std::string key = manifest.problem.key();
        if (std::none_of(options.problems.begin(), options.problems.end(), [&](const Problem& p) { return is_for(candidate, p); })) {
            const auto other_eps =
                std::find_if(options.problems.begin(), options.problems.end(), [&](const Problem& p) { return p.key() == key; });
            refuse(manifest, other_eps == options.problems.end()
                                 ? fmt::format("is for {}, which is not among the selected problems", key)
                                 : fmt::format("is for {} with an eps of {}, and the selected one has {}", key,
                                               manifest.problem.operation.eps, other_eps->operation.eps));
        }
        if (!seen.emplace(candidate.identity(), key).second) {
            refuse(manifest,
                   fmt::format("is a second {} for {}; another \"provider\" or \"configuration\" in its launch.json tells them apart",
                               candidate.identity(), key));
        }
    }
}

void add_candidates(ProblemTrials& trials, const SweepOptions& options, const Problem& problem) {
    for (const Candidate& candidate : options.candidates) {
        if (is_for(candidate, problem)) {
            trials.candidates.push_back(candidate);
            ++trials.summary.points;
            ++trials.summary.kept;
        }
    }
}

std::string candidates_digest(const SweepOptions& options, const Problem& problem) {
    std::string text;
    for (const Candidate& candidate : options.candidates) {
        text += is_for(candidate, problem) ? digest(*candidate.manifest()) : "";
    }
    return text.empty() ? text : content_hash(text + (options.candidates_only ? "alone" : ""));
}

}  // namespace normtune
