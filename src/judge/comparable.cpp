#include "judge/comparable.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "judge/match.h"

namespace normtune {
namespace {

std::string describe(const Comparison& comparison, const std::vector<Facet>& facets) {
    std::vector<std::string> parts;
    std::vector<std::string_view> words;
    for (const Facet facet : facets) {
        parts.push_back(fmt::format("{} ({} against {})", facet_names.name(facet), value_names(*comparison.baseline, facet),
                                    value_names(*comparison.candidate, facet)));
        words.push_back(facet_names.name(facet));
    }
    return fmt::format("{} and {} differ in {}; {} compares them nevertheless", comparison.baseline->name, comparison.candidate->name,
                       fmt::join(parts, ", "),
                       comparison.settings.of_policy ? fmt::format("across: [{}] in the gate's policy", fmt::join(words, ", "))
                                                     : fmt::format("--across {}", fmt::join(words, ",")));
}

/// What every pair that both sides measured differs in, of what may not; nothing where there is no such pair.
std::optional<std::vector<Facet>> facets_of_all(const Comparison& comparison) {
    unsigned differing = 0;
    bool measured_both = false;
    for (const Pair& pair : comparison.pairs) {
        const bool both = !std::isnan(pair.before) && !std::isnan(pair.after);
        measured_both |= both;
        differing |= pair.differs;
        if (both && pair.differs == 0) {
            return std::vector<Facet>();
        }
    }
    if (!measured_both) {
        return std::nullopt;
    }
    std::vector<Facet> facets;
    for (const Facet facet : {Facet::driver, Facet::timer, Facet::cold}) {
        if ((differing & facet_bit(facet)) != 0) {
            facets.push_back(facet);
        }
    }
    return facets;
}

bool any_matched(const Comparison& comparison, const CompareSettings& settings) {
    const std::vector<Match> matches = match_rows(*comparison.baseline, *comparison.candidate, settings);
    return std::any_of(matches.begin(), matches.end(), [&](const Match& match) {
        return match.baseline != no_row && match.candidate != no_row &&
               usable(comparison.baseline->rows[match.baseline], settings.metric) &&
               usable(comparison.candidate->rows[match.candidate], settings.metric);
    });
}

}  // namespace

std::string_view by_best(const Comparison& comparison) {
    return comparison.settings.of_policy ? "by: best in the gate's policy" : "--by best";
}

std::string value_names(const ResultRows& side, Facet facet) {
    std::vector<std::string> found;
    const auto add = [&](std::string name) {
        if (!name.empty() && std::find(found.begin(), found.end(), name) == found.end()) {
            found.push_back(std::move(name));
        }
    };
    if (facet == Facet::casting) {
        for (const RowProblem& problem : side.problems) {
            add(std::string(side.text(problem.casting)));
        }
    } else {
        for (const RowOrigin& origin : side.origins) {
            add(facet == Facet::device                 ? std::string(side.text(origin.device))
                : facet == Facet::driver               ? std::string(side.text(origin.driver))
                : facet == Facet::timer                ? std::string(side.text(origin.timer))
                : origin.cold == RowOrigin::Cold::cold ? "cold"
                : origin.cold == RowOrigin::Cold::hot  ? "hot"
                                                       : "");
        }
    }
    constexpr std::size_t most = 3;
    const bool more = found.size() > most;
    found.resize(std::min(found.size(), most));
    return fmt::format("{}{}", fmt::join(found, ", "), more ? ", …" : "");
}

std::string why_not_comparable(const Comparison& comparison) {
    const std::optional<std::vector<Facet>> facets = facets_of_all(comparison);
    if (facets) {
        return facets->empty() ? "" : describe(comparison, *facets);
    }
    if (comparison.dropped > 0 && any_matched(comparison, comparison.settings)) {
        return fmt::format(
            "{} and {} have no trial in common that neither's race dropped; {} compares their winners, "
            "and sweeps with --strategy exhaustive measure all alike",
            comparison.baseline->name, comparison.candidate->name, by_best(comparison));
    }
    for (const std::vector<Facet>& tried :
         {std::vector{Facet::device}, std::vector{Facet::casting}, std::vector{Facet::device, Facet::casting}}) {
        CompareSettings settings = comparison.settings;
        settings.across.insert(settings.across.end(), tried.begin(), tried.end());
        if (any_matched(comparison, settings)) {
            std::vector<Facet> all = tried;
            const std::vector<Facet> further =
                facets_of_all(compare(*comparison.baseline, *comparison.candidate, settings)).value_or(std::vector<Facet>());
            all.insert(all.end(), further.begin(), further.end());
            return describe(comparison, all);
        }
    }
    if (comparison.settings.by == MatchBy::config) {
        CompareSettings settings = comparison.settings;
        settings.by = MatchBy::best;
        if (any_matched(comparison, settings)) {
            return fmt::format("{} and {} measured the same problems, but no configuration in common; {} compares their winners",
                               comparison.baseline->name, comparison.candidate->name, by_best(comparison));
        }
    }
    return fmt::format("{} and {} have nothing in common that both measured", comparison.baseline->name, comparison.candidate->name);
}

}  // namespace normtune
