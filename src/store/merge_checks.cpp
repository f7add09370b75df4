#include "store/merge_checks.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "space/shard.h"
#include "support/plural.h"

namespace normtune {
namespace {

/// "2 compute units"; of merged runs on several parts of a device "1;2 compute units".
std::string compute_units_text(const Results& results) {
    std::vector<int> units;
    const auto add = [&](const Environment& environment) {
        if (std::ranges::find(units, environment.device.compute_units) == units.end()) {
            units.push_back(environment.device.compute_units);
        }
    };
    for (const MergedRun& run : results.merged) {
        add(run.environment);
    }
    if (units.empty()) {
        add(results.environment);
    }
    std::ranges::sort(units);
    return fmt::format("{} compute unit{}", fmt::join(units, ";"), units == std::vector{1} ? "" : "s");
}

/// What a facet is in a file, in words; empty where it does not tell.
std::string facet_text(const Results& results, MergeFacet facet) {
    const Environment& environment = results.environment;
    switch (facet) {
        case MergeFacet::device:
            return fmt::format("{} {}, {}", environment.device.name, environment.device.arch, compute_units_text(results));
        case MergeFacet::driver:
            return environment.device.driver;
        case MergeFacet::version:
            return fmt::format("{} {}", environment.normtune_version, environment.source_revision);
        case MergeFacet::space:
            return results.sweep ? results.sweep->space.substr(0, 8) : "";
        case MergeFacet::cold:
            break;
    }
    for (const Record& record : results.records) {
        if (record.measurement) {
            return record.measurement->cold ? "cold" : "hot";
        }
    }
    return {};
}

std::string shard_names(const std::vector<int>& shards, int count) {
    std::string out;
    for (const int shard : shards) {
        out += fmt::format("{}{}", out.empty() ? "" : ", ", Shard{shard, count}.text());
    }
    return out;
}

/// What an interrupted sweep did not come to: "17 trials to do", "2 problems to finish (KEY: the finals were not held)". Empty: nothing.
std::string interrupted_text(const Results& results) {
    std::uint64_t trials = 0;
    std::uint64_t problems = 0;
    const PlanSummary* first = nullptr;
    for (const PlanSummary& plan : results.plans) {
        trials += plan.taken_by(interrupted_rule).value_or(0);
        if (plan.unfinished() != nullptr) {
            ++problems;
            first = first == nullptr ? &plan : first;
        }
    }
    if (trials > 0) {
        return fmt::format("{} trial{} to do", trials, trials == 1 ? "" : "s");
    }
    return problems == 0 ? ""
                         : fmt::format("{} problem{} to finish ({}: {})", problems, problems == 1 ? "" : "s", first->problem_key,
                                       first->unfinished()->reason);
}

/// Problems of the selection that are in none of the parts.
std::uint64_t problems_in_none(const std::vector<NamedResults>& parts, const Results& one) {
    std::set<std::uint64_t> places;
    for (const NamedResults& part : parts) {
        if (same_sweep(part.results, one)) {
            for (const PlanSummary& plan : part.results.plans) {
                places.insert(plan.place.value_or(0));
            }
        }
    }
    return one.sweep->problems - std::min<std::uint64_t>(one.sweep->problems, places.size());
}

std::string why_shards_not_whole(const std::vector<NamedResults>& parts, const NamedResults& one) {
    const int count = one.results.sweep->shards;
    std::vector<int> missing;
    const std::vector<int> present = shards_present(parts, one.results);
    for (int shard = 1; shard <= count; ++shard) {
        if (!std::binary_search(present.begin(), present.end(), shard)) {
            missing.push_back(shard);
        }
    }
    if (!missing.empty()) {
        return fmt::format("missing of the sweep of {}: {} {}", one.name, missing.size() == 1 ? "shard" : "shards",
                           shard_names(missing, count));
    }
    const std::uint64_t in_none = count > 1 ? problems_in_none(parts, one.results) : 0;
    return in_none == 0 ? ""
                        : fmt::format(
                              "{} {} in no shard of the sweep of {}: devices that are not quite "
                              "alike divided its problems each in its own way",
                              counted(in_none, "problem"), in_none == 1 ? "is" : "are", one.name);
}

}  // namespace

bool same_sweep(const Results& a, const Results& b) {
    return a.sweep && b.sweep && a.sweep->digest == b.sweep->digest;
}

std::vector<int> shards_present(const std::vector<NamedResults>& parts, const Results& one) {
    std::set<int> present;
    for (const NamedResults& part : parts) {
        if (same_sweep(part.results, one)) {
            present.insert(part.results.sweep->present.begin(), part.results.sweep->present.end());
        }
    }
    return {present.begin(), present.end()};
}

std::string why_not_one_division(const std::vector<NamedResults>& parts) {
    for (const NamedResults& one : parts) {
        for (const NamedResults& part : parts) {
            if (same_sweep(one.results, part.results) && one.results.sweep->shards != part.results.sweep->shards) {
                return fmt::format("{} is of a sweep in {} shards, and {} of the same sweep in {}; merge one of them", one.name,
                                   one.results.sweep->shards, part.name, part.results.sweep->shards);
            }
        }
    }
    return {};
}

std::string why_not_alike(const std::vector<NamedResults>& parts, const std::vector<MergeFacet>& across) {
    for (std::size_t f = 0; f < merge_facet_names.names.size(); ++f) {
        const auto facet = static_cast<MergeFacet>(f);
        if (std::find(across.begin(), across.end(), facet) != across.end()) {
            continue;
        }
        const NamedResults* first = nullptr;
        std::string first_text;
        for (const NamedResults& part : parts) {
            std::string text = facet_text(part.results, facet);
            if (text.empty()) {
                continue;
            }
            if (first == nullptr) {
                first = &part;
                first_text = std::move(text);
            } else if (text != first_text) {
                return fmt::format("{} and {} differ in {} ({} and {}); --across {} merges them nevertheless", first->name, part.name,
                                   merge_facet_names.name(facet), first_text, text, merge_facet_names.name(facet));
            }
        }
    }
    return {};
}

std::string why_not_whole(const std::vector<NamedResults>& parts) {
    for (const NamedResults& part : parts) {
        if (part.results.sweep) {
            if (std::string why = why_shards_not_whole(parts, part); !why.empty()) {
                return why;
            }
        }
    }
    for (const NamedResults& part : parts) {
        const std::string left = interrupted_text(part.results);
        if (!left.empty() && !part.results.merged.empty()) {
            return fmt::format("{} was merged of sweeps one of which was interrupted, with {}; resume that one, and merge them again",
                               part.name, left);
        }
        if (!left.empty()) {
            return fmt::format("{} was interrupted with {}, which normtune sweep --resume does", part.name, left);
        }
    }
    return {};
}

}  // namespace normtune
