#include "run/finals.h"

#include <algorithm>
#include <numeric>

#include "measure/ranking.h"
#include "measure/statistics.h"
#include "run/tuning.h"
#include "support/clock.h"
#include "support/random.h"

namespace normtune {

namespace {

struct Finalist {
    TrialId id = 0;
    Entrant recorded;  // by its ordinary rounds
    Series series;
    std::optional<Failure> failure;
};

std::vector<Finalist> choose(const std::string& problem_key, const std::vector<Candidate>& candidates, const Recorder& recorder,
                             std::size_t& left_out) {
    std::vector<Entrant> entrants;
    std::vector<TrialId> ids;
    for (TrialId id = 0; id < candidates.size(); ++id) {
        const std::string key = candidates[id].identity();
        const Record* record = recorder.find(problem_key, key);
        if (record == nullptr || !record->may_win()) {
            continue;
        }
        Entrant entrant{key, record->measurement->p50_us, {}};
        for (const Round& round : record->measurement->rounds) {
            entrant.rounds_us.push_back(round.median_us);
        }
        entrants.push_back(std::move(entrant));
        ids.push_back(id);
    }
    std::vector<Finalist> chosen;
    left_out = 0;
    if (!entrants.empty()) {
        const std::size_t tied = finalists(entrants, 0, entrants.size()).size();
        left_out = tied - std::min(tied, tuning::most_finalists);
        for (const std::size_t i : finalists(entrants, tuning::finalists_within, tuning::most_finalists)) {
            chosen.push_back({ids[i], std::move(entrants[i]), {}, {}});
        }
    }
    return chosen;
}

/// As the finals have measured them so far, without those that failed.
std::vector<Entrant> of_finals(const std::vector<Finalist>& finalists) {
    std::vector<Entrant> entrants;
    for (const Finalist& finalist : finalists) {
        if (!finalist.failure) {
            entrants.push_back({finalist.recorded.key, finalist.series.p50_us(), finalist.series.round_medians_us()});
        }
    }
    return entrants;
}

FinalEntry ranked(const std::string& problem_key, const std::vector<Entrant>& entrants) {
    FinalEntry entry;
    entry.problem_key = problem_key;
    if (entrants.empty()) {
        return entry;
    }
    const Ranking ranking = rank(entrants);
    const auto tied = [&](std::size_t i) {
        return ranking.tied.size() > 1 && std::find(ranking.tied.begin(), ranking.tied.end(), i) != ranking.tied.end();
    };
    for (std::size_t place = 0; place < ranking.order.size(); ++place) {
        const std::size_t i = ranking.order[place];
        entry.finalists.push_back({entrants[i].key, entrants[i].rounds_us, static_cast<int>(place) + 1, tied(i)});
    }
    return entry;
}

}  // namespace

bool finals_over(int rounds, std::span<const Entrant> finalists) {
    return rounds >= tuning::most_final_rounds || (rounds >= tuning::final_rounds && resolution(finalists) <= tuning::final_resolution);
}

std::size_t run_finals(const SweepOptions& options, const Problem& problem, const std::vector<Candidate>& candidates, Recorder& recorder,
                       RoundTaker rounds, std::optional<Deadline> end) {
    const std::string key = problem.key();
    std::size_t left_out = 0;
    std::vector<Finalist> finalists = choose(key, candidates, recorder, left_out);
    bool lost = false;
    for (int round = 0; !lost && !finals_over(round, of_finals(finalists)); ++round) {
        if (round >= tuning::least_final_rounds && past(end)) {
            break;
        }
        std::vector<std::size_t> order(finalists.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        shuffle(order, Random(mix_seed(options.seed, "finals order/" + key, static_cast<std::uint64_t>(round))));
        for (const std::size_t i : order) {
            Finalist& finalist = finalists[i];
            if (!finalist.failure && !lost) {
                finalist.failure = rounds.take(finalist.series, finalist.id, candidates[finalist.id]);
                lost = finalist.failure && finalist.failure->of_problem;
                recorder.update(key, 0);
            }
        }
    }
    if (lost) {
        // No fault of the finalists: they keep their records and are ranked by the rounds that they have.
        std::vector<Entrant> entrants;
        entrants.reserve(finalists.size());
        for (Finalist& finalist : finalists) {
            entrants.push_back(std::move(finalist.recorded));
        }
        FinalEntry entry = ranked(key, entrants);
        for (FinalEntry::Finalist& finalist : entry.finalists) {
            finalist.rounds_us.clear();
        }
        recorder.add(entry);
        return left_out;
    }
    for (const Finalist& finalist : finalists) {
        if (finalist.failure) {
            Record record = *recorder.find(key, candidates[finalist.id].identity());
            record.timestamp = utc_timestamp();
            record.outcome = finalist.failure->outcome;
            record.reason = finalist.failure->reason;
            record.measurement.reset();
            recorder.add(std::move(record));
        }
    }
    recorder.add(ranked(key, of_finals(finalists)));
    return left_out;
}

}  // namespace normtune
