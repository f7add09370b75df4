#include "judge/problem_ranking.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "measure/ranking.h"
#include "measure/statistics.h"

namespace normtune {
namespace {

bool measured(const Record& record) {
    return record.outcome == Outcome::passed && record.measurement && record.measurement->p50_us > 0;
}

std::vector<double> round_medians(const Measurement& measurement) {
    std::vector<double> medians;
    for (const Round& round : measurement.rounds) {
        medians.push_back(round.median_us);
    }
    return medians;
}

Standing standing_of(const Record& record, const Record& winner, std::size_t candidates) {
    Standing standing{&record};
    if (&record == &winner) {
        return standing;
    }
    const Measurement& its = *record.measurement;
    const Measurement& best = *winner.measurement;
    if (!its.final_rounds_us.empty() && !best.final_rounds_us.empty()) {
        standing.ratio = median(its.final_rounds_us) / median(best.final_rounds_us);
        standing.significantly_slower =
            standing.ratio > 1 &&
            (best.rank == 1 ? !its.tied : significantly_slower(its.final_rounds_us, best.final_rounds_us, candidates));
        return standing;
    }
    standing.ratio = its.p50_us / best.p50_us;
    const bool by_rounds = !its.rounds.empty() && !best.rounds.empty();
    standing.significantly_slower =
        standing.ratio > 1 && (by_rounds ? significantly_slower(round_medians(its), round_medians(best), candidates) : !its.tied);
    return standing;
}

struct Trials {
    std::vector<const Record*> measured;
    std::vector<const Record*> pruned;
    std::size_t of_others = 0;
};

const Record* winner_of(const std::vector<const Record*>& trials) {
    return *std::min_element(trials.begin(), trials.end(), [](const Record* a, const Record* b) {
        const auto place = [](const Measurement& m) { return std::tuple(m.rank == 0, m.rank, m.p50_us); };
        return place(*a->measurement) < place(*b->measurement);
    });
}

}  // namespace

Obeying ProblemRanking::obeying(const std::function<bool(const Record&)>& obeys) const {
    Obeying out;
    for (const Standing& standing : standings) {
        if (standing.record->candidate.configuration() != nullptr && obeys(*standing.record)) {
            ++out.count;
            out.fastest = out.fastest == nullptr || standing.ratio < out.fastest->ratio ? &standing : out.fastest;
            const auto loss = [](const Standing& it) { return std::tuple(it.loss(), it.ratio); };
            out.best = out.best == nullptr || loss(standing) < loss(*out.best) ? &standing : out.best;
        }
    }
    return out;
}

std::vector<ProblemRanking> problem_rankings(std::span<const Results> runs, Whose whose) {
    std::vector<ProblemRanking> out;
    for (const Results& run : runs) {
        std::vector<ProblemRanking> of_run = problem_rankings(run, whose);
        std::move(of_run.begin(), of_run.end(), std::back_inserter(out));
    }
    return out;
}

std::vector<ProblemRanking> problem_rankings(const Results& results, Whose whose) {
    std::vector<std::string> order;
    std::map<std::string, Trials> trials_of;
    for (const Record& record : results.records) {
        const std::string key = record.problem.key();
        Trials& trials = trials_of[key];
        if (whose == Whose::own && record.candidate.configuration() == nullptr) {
            ++trials.of_others;
        } else if (measured(record)) {
            if (trials.measured.empty()) {
                order.push_back(key);
            }
            trials.measured.push_back(&record);
        } else if (record.outcome == Outcome::pruned) {
            trials.pruned.push_back(&record);
        }
    }
    std::unordered_map<std::string_view, const PlanSummary*> plans;
    for (const PlanSummary& plan : results.plans) {
        plans.emplace(plan.problem_key, &plan);
    }
    std::vector<ProblemRanking> rankings;
    for (const std::string& key : order) {
        const auto plan = plans.find(key);
        Trials& trials = trials_of[key];
        ProblemRanking ranking{
            &results,        plan == plans.end() ? nullptr : plan->second, winner_of(trials.measured), {}, std::move(trials.pruned),
            trials.of_others};
        for (const Record* trial : trials.measured) {
            ranking.standings.push_back(standing_of(*trial, *ranking.winner, trials.measured.size()));
        }
        rankings.push_back(std::move(ranking));
    }
    return rankings;
}

}  // namespace normtune
