#include "judge/problem_ranking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "judge/estimate.h"
#include "measure/ranking.h"
#include "measure/statistics.h"
#include "store/result_rows.h"
#include "support/error.h"

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

/// What rounds usually vary by in a run, and each trial's time by its own.
class RunNoise {
public:
    explicit RunNoise(const Results& results) : usual_(estimates(results)) {}

    /// Half the 95% interval of log(p50 of a / p50 of b).
    double half_width(const Measurement& a, const Measurement& b) const {
        const Estimate left = usual_.moderated(estimate(a));
        const Estimate right = usual_.moderated(estimate(b));
        const double variance = left.variance + right.variance;
        const auto part = [](const Estimate& of) { return of.variance * of.variance / of.degrees; };
        const double degrees = variance * variance / (part(left) + part(right));
        return quantile_of(static_cast<int>(std::clamp(degrees, 1.0, most_degrees))) * std::sqrt(variance);
    }

private:
    static constexpr double most_degrees = 200;

    /// A trial's interval is one of hundreds of thousands.
    static double quantile_of(int degrees) {
        static const std::vector<double> quantiles = [] {
            constexpr double tail = 0.025;
            std::vector<double> out{0};
            for (int d = 1; d <= static_cast<int>(most_degrees); ++d) {
                out.push_back(student_t_quantile(tail, d));
            }
            return out;
        }();
        return quantiles[static_cast<std::size_t>(degrees)];
    }
    static Estimate estimate(const Measurement& m) {
        return m.rounds.empty() ? estimate_from_quantiles(m.p20_us, m.p50_us, m.p80_us, m.rounds_taken)
                                : estimate_from_rounds(round_medians(m));
    }
    static std::vector<Estimate> estimates(const Results& results) {
        std::vector<Estimate> out;
        for (const Record& record : results.records) {
            if (measured(record)) {
                out.push_back(estimate(*record.measurement));
            }
        }
        return out;
    }

    UsualNoise usual_;
};

/// A trial is another one cold than on data in cache.
std::pair<bool, std::string> trial_of(const Record& record) {
    return {record.measurement->cold, record.trial_key()};
}

/// The newest rounds of a trial that were taken beside the winner's, in a sweep after the first.
class FreshRounds {
public:
    explicit FreshRounds(std::span<const Results> sweeps) : sweeps_(sweeps.size()) {
        for (std::size_t i = 0; i < sweeps.size(); ++i) {
            for (const Record& record : sweeps[i].records) {
                if (measured(record)) {
                    sweeps_[i].emplace(trial_of(record), &*record.measurement);
                }
            }
        }
    }

    /// Of the trial and the winner; null: there are none.
    std::pair<const Measurement*, const Measurement*> of(const Record& record, const Record& winner) const {
        for (std::size_t i = sweeps_.size(); i-- > 0;) {
            const auto its = sweeps_[i].find(trial_of(record));
            const auto best = sweeps_[i].find(trial_of(winner));
            if (its != sweeps_[i].end() && best != sweeps_[i].end()) {
                return {its->second, best->second};
            }
        }
        return {nullptr, nullptr};
    }

private:
    std::vector<std::map<std::pair<bool, std::string>, const Measurement*>> sweeps_;
};

Standing standing_of(const Record& record, const Record& winner, const RunNoise& noise, const FreshRounds& fresh) {
    Standing standing{{}, &record};
    if (&record == &winner) {
        standing.dropped = record.measurement->stop_reason == StopReason::dropped && record.measurement->final_rounds_us.empty();
        return standing;
    }
    const auto set = [&](double ratio, double half_width) {
        standing.ratio = ratio;
        standing.low = ratio * std::exp(-half_width);
        standing.high = ratio * std::exp(half_width);
    };
    const auto by_rounds = [&](std::span<const double> its, std::span<const double> best) {
        set(paired_ratio(its, best), paired_half_width(its, best));
    };
    const Measurement& its = *record.measurement;
    const Measurement& best = *winner.measurement;
    if (const auto [again, beside] = fresh.of(record, winner); again != nullptr) {
        by_rounds(round_medians(*again), round_medians(*beside));
    } else if (its.final_rounds_us.size() > 1 && best.final_rounds_us.size() > 1) {
        by_rounds(its.final_rounds_us, best.final_rounds_us);
    } else {
        set(its.p50_us / best.p50_us, noise.half_width(its, best));
        standing.dropped = its.stop_reason == StopReason::dropped;
    }
    return standing;
}

struct Trials {
    std::vector<const Record*> measured;
    std::vector<const Record*> pruned;
    std::size_t of_others = 0;
};

const Record* winner_of(const std::vector<const Record*>& trials) {
    return *std::min_element(trials.begin(), trials.end(), [](const Record* a, const Record* b) {
        const auto place = [](const Measurement& m) {
            return std::tuple(m.rank == 0, m.rank, m.final_rounds_us.empty(), m.stop_reason == StopReason::dropped, m.p50_us);
        };
        return place(*a->measurement) < place(*b->measurement);
    });
}

bool same_time(const Record& a, const Record& b) {
    return a.timestamp == b.timestamp && a.measurement->cold == b.measurement->cold &&
           same_us(a.measurement->p50_us, b.measurement->p50_us);
}

/// Is every trial that both measured there with the same time?
bool same_times(const ProblemRanking& a, const ProblemRanking& b) {
    if (a.results == b.results) {
        return false;
    }
    std::unordered_map<std::string, const Record*> trials;
    for (const Standing& standing : a.standings) {
        trials.emplace(standing.record->candidate.identity(), standing.record);
    }
    bool any = false;
    for (const Standing& standing : b.standings) {
        if (const auto found = trials.find(standing.record->candidate.identity()); found != trials.end()) {
            if (!same_time(*found->second, *standing.record)) {
                return false;
            }
            any = true;
        }
    }
    return any;
}

}  // namespace

bool precedes(const Standing& standing, const Standing* best, const Record* winner) {
    return best == nullptr || standing.record == winner || (best->record != winner && standing.ratio < best->ratio);
}

Obeying ProblemRanking::obeying(const std::function<bool(const Record&)>& obeys) const {
    Obeying out;
    for (const Standing& standing : standings) {
        if (standing.record->candidate.configuration() != nullptr && obeys(*standing.record)) {
            ++out.count;
            out.best = precedes(standing, out.best, winner) ? &standing : out.best;
        }
    }
    return out;
}

void WantedAgain::add(const ProblemRanking& ranking, const Standing* standing) {
    if (standing == nullptr || !standing->dropped) {
        return;
    }
    const bool cold = ranking.winner->measurement->cold;
    auto found = std::find_if(wanted_.begin(), wanted_.end(),
                              [&](const TrialsAgain& it) { return it.cold == cold && it.problem.same_work(ranking.problem()); });
    if (found == wanted_.end()) {
        const Configuration& winner = *ranking.winner->candidate.configuration();
        found = wanted_.insert(found, {ranking.problem(), cold, {winner}});
    }
    const Configuration& wanted = *standing->record->candidate.configuration();
    if (std::find(found->configurations.begin(), found->configurations.end(), wanted) == found->configurations.end()) {
        found->configurations.push_back(wanted);
    }
}

std::vector<TrialsAgain> WantedAgain::take() {
    return std::move(wanted_);
}

std::vector<ProblemRanking> problem_rankings(std::span<const Results> runs, Whose whose, std::span<const Results> fresh) {
    std::vector<ProblemRanking> out;
    for (const Results& run : runs) {
        std::vector<ProblemRanking> of_run = problem_rankings(run, whose, fresh);
        std::move(of_run.begin(), of_run.end(), std::back_inserter(out));
    }
    return out;
}

CountedRankings counted_rankings(std::span<const Results> runs, Whose whose, std::span<const Results> fresh) {
    CountedRankings out;
    std::map<std::string, std::vector<std::size_t>> places;  // by problem, in out.rankings
    for (ProblemRanking& ranking : problem_rankings(runs, whose, fresh)) {
        std::vector<std::size_t>& same = places[ranking.problem().key()];
        const auto twin = std::ranges::find_if(same, [&](std::size_t place) { return same_times(out.rankings[place], ranking); });
        if (twin == same.end()) {
            same.push_back(out.rankings.size());
            out.rankings.push_back(std::move(ranking));
            continue;
        }
        ++out.repeats;
        const auto says = [](const ProblemRanking& one) { return std::tuple(one.standings.size(), one.plan != nullptr); };
        if (says(ranking) > says(out.rankings[*twin])) {
            out.rankings[*twin] = std::move(ranking);
        }
    }
    if (out.rankings.empty()) {
        throw InputError("nothing was measured in these results: there is no best to judge by");
    }
    return out;
}

std::string cold_beside_hot(const std::vector<const Record*>& records) {
    const auto cold = [](const Record* record) { return record->measurement->cold; };
    const auto other = std::ranges::find_if(records, [&](const Record* it) { return cold(it) != cold(records.front()); });
    if (other == records.end()) {
        return "";
    }
    const Record* const first = records.front();
    return fmt::format("{} was measured cold, {} on data in cache", (cold(first) ? first : *other)->problem.key(),
                       (cold(first) ? *other : first)->problem.key());
}

std::string cold_beside_hot(std::span<const Results> runs) {
    std::vector<const Record*> all;
    for (const Results& run : runs) {
        for (const Record& record : run.records) {
            if (measured(record)) {
                all.push_back(&record);
            }
        }
    }
    return cold_beside_hot(all);
}

std::vector<ProblemRanking> problem_rankings(const Results& results, Whose whose, std::span<const Results> fresh) {
    const RunNoise noise(results);
    const FreshRounds fresh_rounds(fresh);
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
            ranking.standings.push_back(standing_of(*trial, *ranking.winner, noise, fresh_rounds));
        }
        rankings.push_back(std::move(ranking));
    }
    return rankings;
}

}  // namespace normtune
