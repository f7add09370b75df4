#include "run/candidate_choice.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "support/content_hash.h"

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

/// The one of that identity, or the rule that took it.
void keep_one(FolderPlan& plan, const std::string& only) {
    std::erase_if(plan.kept, [&](const auto& manifest) { return Candidate(manifest).identity() != only; });
    std::erase_if(plan.pruned_by, [&](const auto& pruned) { return pruned.first.identity() != only; });
    std::vector<RuleTally> tallies;
    for (auto& [candidate, tally] : plan.pruned_by) {
        tallies.push_back(plan.tallies[tally]);
        tallies.back().pruned = 1;
        tally = tallies.size() - 1;
    }
    plan.tallies = std::move(tallies);
    plan.points = plan.kept.size() + plan.pruned_by.size();
}

}  // namespace

InputError no_such_candidate(const std::string& only) {
    return InputError(fmt::format("--config {}: no --candidate or --provider has such a kernel for the selected problems", only));
}

void check_candidates(const CandidateChoice& choice, const std::vector<Problem>& problems) {
    if (!choice.only.empty() && std::ranges::none_of(choice.sources(), [&](const CandidateChoice::Source& source) {
            return choice.only.starts_with(source.provider + ":");
        })) {
        throw no_such_candidate(choice.only);
    }
    for (const auto& folder : choice.folders) {
        if (std::none_of(problems.begin(), problems.end(), [&](const Problem& problem) { return folder->claims(problem); })) {
            refuse_problems(*folder, problems);
        }
    }
}

std::vector<CandidateChoice::Source> CandidateChoice::sources() const {
    std::vector<Source> out;
    for (const auto& folder : folders) {
        out.push_back({folder->provider(), "--candidate: " + folder->path(), folder->path()});
    }
    for (const auto& provider : providers) {
        out.push_back({provider->name(), provider->named(), ""});
    }
    return out;
}

std::vector<FolderPlan> plan_candidates(const CandidateChoice& choice, const Problem& problem, const DeviceInfo& device, bool list_pruned) {
    std::vector<FolderPlan> out;
    for (const auto& folder : choice.folders) {
        out.push_back(folder->plan(problem, device, list_pruned || !choice.only.empty()));
    }
    for (const auto& provider : choice.providers) {
        out.push_back(provider->plan(problem, list_pruned || !choice.only.empty()));
    }
    const std::vector<CandidateChoice::Source> sources = choice.sources();
    std::unordered_map<std::string, std::size_t> seen;  // of which source
    for (std::size_t i = 0; i < out.size(); ++i) {
        FolderPlan& plan = out[i];
        if (!choice.only.empty()) {
            keep_one(plan, choice.only);
        }
        for (const auto& manifest : plan.kept) {
            const std::string identity = Candidate(manifest).identity();
            if (const auto [first, is_new] = seen.try_emplace(identity, i); !is_new) {
                throw InputError(fmt::format(
                    "{}: {} a second {} for {}; {}", sources[i].named, first->second == i ? "has" : "is", identity, problem.key(),
                    first->second == i && !sources[i].folder.empty() ? "no rule tells two of its code/files apart"
                                                                     : "another name of the provider or of the kernel tells them apart"));
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
