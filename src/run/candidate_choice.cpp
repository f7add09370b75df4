#include "run/candidate_choice.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "support/content_hash.h"
#include "support/error.h"

namespace normtune {
namespace {

[[noreturn]] void refuse(const KernelFolder& folder, const std::string& why) {
    throw InputError(fmt::format("--candidate: {}: {}", folder.path(), why));
}

[[noreturn]] void refuse_problems(const KernelFolder& folder, const std::vector<Problem>& problems) {
    if (folder.single() == nullptr) {
        refuse(folder, fmt::format("{}, and no selected problem is of that kind", folder.claims_text()));
    }
    const std::string key = folder.single()->problem.key();
    const auto other_eps = std::find_if(problems.begin(), problems.end(), [&](const Problem& p) { return p.key() == key; });
    refuse(folder, other_eps == problems.end() ? fmt::format("is for {}, which is not among the selected problems", key)
                                               : fmt::format("is for {} with an eps of {}, and the selected one has {}", key,
                                                             folder.single()->problem.operation.eps, other_eps->operation.eps));
}

}  // namespace

void check_candidates(const CandidateChoice& choice, const std::vector<Problem>& problems) {
    for (const auto& folder : choice.folders) {
        if (std::none_of(problems.begin(), problems.end(), [&](const Problem& problem) { return folder->claims(problem); })) {
            refuse_problems(*folder, problems);
        }
    }
}

std::vector<CandidateChoice::Source> CandidateChoice::sources() const {
    std::vector<Source> out;
    for (const auto& folder : folders) {
        out.push_back({folder->provider(), "--candidate: " + folder->path()});
    }
    for (const auto& provider : providers) {
        out.push_back({provider->name(), provider->named()});
    }
    return out;
}

std::vector<FolderPlan> plan_candidates(const CandidateChoice& choice, const Problem& problem, const DeviceInfo& device, bool list_pruned) {
    std::vector<FolderPlan> out;
    for (const auto& folder : choice.folders) {
        out.push_back(folder->plan(problem, device, list_pruned));
    }
    for (const auto& provider : choice.providers) {
        out.push_back(provider->plan(problem, list_pruned));
    }
    const std::vector<CandidateChoice::Source> sources = choice.sources();
    std::unordered_set<std::string> seen;
    for (std::size_t i = 0; i < out.size(); ++i) {
        FolderPlan& plan = out[i];
        if (!choice.only.empty()) {
            std::erase_if(plan.kept, [&](const auto& manifest) { return Candidate(manifest).identity() != choice.only; });
            plan.points = plan.kept.size();
            plan.tallies.clear();
            plan.pruned_by.clear();
        }
        for (const auto& manifest : plan.kept) {
            if (const std::string identity = Candidate(manifest).identity(); !seen.insert(identity).second) {
                throw InputError(fmt::format("{}: is a second {} for {}; another name of the provider or of the kernel tells them apart",
                                             sources[i].named, identity, problem.key()));
            }
        }
    }
    return out;
}

std::string candidates_digest(const CandidateChoice& choice, const Problem& problem) {
    std::string text;
    for (const auto& folder : choice.folders) {
        text += folder->claims(problem) ? folder->digest() : "";
    }
    for (const auto& provider : choice.providers) {
        text += provider->plan(problem, false).kept.empty() ? "" : provider->digest();
    }
    return text.empty() ? text : content_hash(text + (choice.alone ? "alone" : "") + choice.only);
}

}  // namespace normtune
