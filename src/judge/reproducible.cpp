#include "judge/reproducible.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "space/reproducibility.h"

namespace normtune {
namespace {

/// Trials that may stand at different M of one launcher. Bits that were compared have to agree, too.
struct ClassOfRows {
    std::string row_class;
    std::string row_bits;  // empty: by source
    friend auto operator<=>(const ClassOfRows&, const ClassOfRows&) = default;
};

struct Members {
    std::vector<const Standing*> fastest;  // by problem; null: none was measured
    std::size_t covered = 0;
    double sum = 0;  // of the logarithms

    void add(std::size_t problem, const Standing& standing, const Record* winner) {
        const Standing*& best = fastest[problem];
        if (precedes(standing, best, winner)) {
            covered += best == nullptr ? 1 : 0;
            sum += std::log(standing.ratio) - (best == nullptr ? 0 : std::log(best->ratio));
            best = &standing;
        }
    }
    /// What is wanted most comes first.
    auto order(const ClassOfRows& of) const { return std::tuple(-static_cast<double>(covered), of.row_bits.empty(), sum); }
};

std::string class_of(const Record& record) {
    const Configuration* own = record.candidate.configuration();
    return own != nullptr ? row_class(*own, record.backend) : std::string(record.candidate.provider());
}

using Ranks = std::vector<const ProblemRanking*>;

PricedChoice choice_of(const ProblemRanking& ranking, const Standing* taken, Known known) {
    PricedChoice out{ranking.problem().key(), ranking.winner->candidate.identity(), nullptr, {}, known};
    if (taken != nullptr) {
        out.taken = taken->record;
        out.time = static_cast<const TimeRatio&>(*taken);
    }
    return out;
}

PricedLadder ladder_of_classes(const Ranks& rankings, const Restriction& restriction) {
    std::map<ClassOfRows, Members> classes;
    std::map<std::string, std::set<std::string>> digests;  // of each class
    const auto add = [&](const ClassOfRows& of, std::size_t problem, const Standing& standing) {
        Members& members = classes[of];
        members.fastest.resize(rankings.size(), nullptr);
        members.add(problem, standing, rankings[problem]->winner);
    };
    for (std::size_t i = 0; i < rankings.size(); ++i) {
        for (const Standing& standing : rankings[i]->standings) {
            const Record& record = *standing.record;
            if (!admits(restriction, record)) {
                continue;
            }
            if (record.bits) {
                add({class_of(record), record.bits->row_bits}, i, standing);
                digests[class_of(record)].insert(record.bits->row_bits);
            }
            if (record.candidate.configuration() != nullptr) {
                add({class_of(record), ""}, i, standing);
            }
        }
    }
    // Where bits were compared and are not those of one class, the source's word counts for nothing.
    std::erase_if(classes, [&](const auto& of) { return of.first.row_bits.empty() && digests[of.first.row_class].size() > 1; });
    PricedLadder out;
    const auto best = std::ranges::min_element(classes, {}, [](const auto& of) { return of.second.order(of.first); });
    for (std::size_t i = 0; i < rankings.size(); ++i) {
        const bool by_bits = best != classes.end() && !best->first.row_bits.empty();
        out.choices.push_back(choice_of(*rankings[i], best == classes.end() ? nullptr : best->second.fastest[i],
                                        by_bits ? Known::by_bits : Known::by_source));
    }
    out.row_class = best == classes.end() ? "" : best->first.row_class;
    return out;
}

PricedLadder fastest_alone(const ProblemRanking& ranking, const Restriction& restriction) {
    const Standing* best = nullptr;
    for (const Standing& standing : ranking.standings) {
        if (admits(restriction, *standing.record) && precedes(standing, best, ranking.winner)) {
            best = &standing;
        }
    }
    PricedLadder out;
    out.choices.push_back(choice_of(ranking, best, best != nullptr && best->record->bits ? Known::by_bits : Known::by_source));
    return out;
}

/// Everything but M.
std::string name_of(const Problem& problem, bool any_rows) {
    std::string key = problem.key();
    if (any_rows) {
        const std::string size = fmt::format("/{}x{}", problem.shape.rows, problem.shape.cols);
        key.replace(key.find(size), size.size(), fmt::format("/*x{}", problem.shape.cols));
    }
    return key;
}

/// Of a run that was ranked; the choices follow their records to where they come to lie.
void restrict(Results& run, const Restriction& restriction, const std::unordered_map<const Record*, PricedChoice*>& choices) {
    std::unordered_map<std::string, bool> ranked;  // was it, of the problems that have a choice
    for (const Record& record : run.records) {
        if (choices.contains(&record)) {
            ranked.emplace(record.problem.key(), false);
        }
    }
    for (const Record& record : run.records) {
        if (record.measurement && record.measurement->rank == 1) {
            if (const auto problem = ranked.find(record.problem.key()); problem != ranked.end()) {
                problem->second = true;
            }
        }
    }
    std::unordered_set<std::string> stays;  // problems whose winner is the same, so that what is tied with it is so still
    for (const Record& record : run.records) {
        if (record.measurement && record.measurement->rank == 1 && choices.contains(&record)) {
            stays.insert(record.problem.key());
        }
    }
    auto kept = run.records.begin();
    for (Record& record : run.records) {
        const auto problem = ranked.find(record.problem.key());
        const auto choice = choices.find(&record);
        const bool won = choice != choices.end();
        if (problem == ranked.end() || !(won || (problem->second && record.measurement && admits(restriction, record)))) {
            continue;
        }
        record.measurement->rank = won && problem->second ? 1 : 0;
        const bool as_before = problem->second && stays.contains(record.problem.key());
        record.measurement->tied = as_before && record.measurement->tied;
        if (won) {
            choice->second->taken = &*kept;
        }
        if (&*kept != &record) {
            *kept = std::move(record);
        }
        ++kept;
    }
    run.records.erase(kept, run.records.end());
}

}  // namespace

bool admits(const Restriction& restriction, const Record& record) {
    const Configuration* own = record.candidate.configuration();
    if (own == nullptr && !record.bits) {
        return false;
    }
    if (restriction.batch_invariant && record.bits && record.bits->row_bits.empty()) {
        return false;
    }
    return !restriction.deterministic || ((!record.bits || record.bits->runs_differ.empty()) &&
                                          (own == nullptr || varies_from_run_to_run(*own, record.problem, record.backend).empty()));
}

PriceSummary PricedLadder::price() const {
    PriceSummary out;
    for (const PricedChoice& choice : choices) {
        out.add(choice, choice.taken == nullptr ? std::nullopt : std::optional(choice.time.estimate()));
    }
    return out;
}

std::vector<PricedLadder> priced_ladders(const std::vector<ProblemRanking>& rankings, const Restriction& restriction) {
    std::vector<std::string> names;
    std::unordered_map<std::string, Ranks> sets;
    for (const ProblemRanking& ranking : rankings) {
        const std::string set = fmt::format("{}\n{}", ranking.device().name, name_of(ranking.problem(), restriction.batch_invariant));
        Ranks& ranks = sets[set];
        if (ranks.empty()) {
            names.push_back(set);
        }
        ranks.push_back(&ranking);
    }
    std::vector<PricedLadder> out;
    for (const std::string& set : names) {
        Ranks& ranks = sets[set];
        std::ranges::stable_sort(ranks, {}, [](const ProblemRanking* ranking) { return ranking->problem().shape.rows; });
        if (restriction.batch_invariant) {
            out.push_back(ladder_of_classes(ranks, restriction));
            out.back().name = name_of(ranks.front()->problem(), ranks.front()->problem().shape.rows != ranks.back()->problem().shape.rows);
        } else {
            for (const ProblemRanking* ranking : ranks) {
                out.push_back(fastest_alone(*ranking, restriction));
                out.back().name = name_of(ranking->problem(), false);
            }
        }
    }
    for (PricedLadder& ladder : out) {
        const bool all = std::ranges::all_of(ladder.choices, [](const PricedChoice& c) { return c.known == Known::by_bits; });
        ladder.known = all ? Known::by_bits : Known::by_source;
    }
    return out;
}

std::vector<const Standing*> fastest_of_classes(const ProblemRanking& ranking) {
    std::map<ClassOfRows, const Standing*> fastest;
    for (const Standing& standing : ranking.standings) {
        const Record& record = *standing.record;
        const Standing*& best = fastest[{class_of(record), record.bits ? record.bits->row_bits : ""}];
        best = best == nullptr || standing.ratio < best->ratio ? &standing : best;
    }
    std::vector<const Standing*> out;
    for (const auto& [of, standing] : fastest) {
        out.push_back(standing);
    }
    return out;
}

std::vector<BitsTally> bits_tallies(const Results& results) {
    std::vector<BitsTally> out;
    std::unordered_map<std::string, std::size_t> places;
    std::vector<std::map<std::string, std::set<std::string>>> digests;  // of each set's classes
    for (const Record& record : results.records) {
        if (!record.bits) {
            continue;
        }
        const std::string name = name_of(record.problem, true);
        const auto [place, added] = places.try_emplace(name, out.size());
        if (added) {
            out.push_back({name, 0, {}, {}, 0, {}});
            digests.emplace_back();
        }
        BitsTally& tally = out[place->second];
        ++tally.compared;
        if (!record.bits->rows_differ.empty()) {
            tally.rows_differ.push_back(&record);
        } else if (record.candidate.configuration() != nullptr) {
            digests[place->second][class_of(record)].insert(record.bits->row_bits);
        }
        if (!record.bits->runs_differ.empty()) {
            tally.runs_differ.push_back(&record);
        }
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].classes = digests[i].size();
        for (const auto& [name, bits] : digests[i]) {
            if (bits.size() > 1) {
                out[i].contradicted.push_back(name);
            }
        }
    }
    return out;
}

RestrictedResults restricted(std::vector<Results> all, const Restriction& restriction, Whose whose) {
    RestrictedResults out;
    out.ladders = priced_ladders(problem_rankings(all, whose), restriction);
    std::unordered_map<const Record*, PricedChoice*> choices;
    for (PricedLadder& ladder : out.ladders) {
        for (PricedChoice& choice : ladder.choices) {
            choices.emplace(choice.taken, &choice);
        }
    }
    for (Results& run : all) {
        restrict(run, restriction, choices);
    }
    out.results = std::move(all);  // records stay where they are
    return out;
}

}  // namespace normtune
