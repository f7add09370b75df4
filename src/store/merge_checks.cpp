#include "store/merge_checks.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "space/shard.h"

namespace normtune {
namespace {

/// What a facet is in a file, in words; empty where it does not tell.
std::string facet_text(const Results& results, MergeFacet facet) {
    const Environment& environment = results.environment;
    switch (facet) {
        case MergeFacet::device:
            return fmt::format("{} {}", environment.device.name, environment.device.arch);
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

/// Trials that an interrupted sweep did not come to.
std::uint64_t interrupted_trials(const Results& results) {
    std::uint64_t trials = 0;
    for (const PlanSummary& plan : results.plans) {
        for (const PlanSummary::Pruned& pruned : plan.pruned) {
            trials += pruned.rule == interrupted_rule ? pruned.count : 0;
        }
    }
    return trials;
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
                              "{} problems are in no shard of the sweep of {}: devices that are not quite "
                              "alike divided them each in its own way",
                              in_none, one.name);
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
        if (const std::uint64_t trials = interrupted_trials(part.results); trials > 0) {
            return fmt::format("{} was interrupted with {} trials to do, which normtune sweep --resume does", part.name, trials);
        }
    }
    return {};
}

}  // namespace normtune
