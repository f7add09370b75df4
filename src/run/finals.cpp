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
    Candidate recorded;  // by its ordinary rounds
    Series series;
    std::optional<Failure> failure;
};

std::vector<Finalist> choose(const std::string& problem_key, const std::vector<Configuration>& configurations, const Recorder& recorder,
                             std::size_t& left_out) {
    std::vector<Candidate> candidates;
    std::vector<TrialId> ids;
    for (TrialId id = 0; id < configurations.size(); ++id) {
        const std::string key = configurations[id].key();
        const Record* record = recorder.find(problem_key, key);
        if (record == nullptr || !record->may_win()) {
            continue;
        }
        Candidate candidate{key, record->measurement->p50_us, {}};
        for (const Round& round : record->measurement->rounds) {
            candidate.rounds_us.push_back(round.median_us);
        }
        candidates.push_back(std::move(candidate));
        ids.push_back(id);
    }
    std::vector<Finalist> chosen;
    left_out = 0;
    if (!candidates.empty()) {
        const std::size_t tied = finalists(candidates, 0, candidates.size()).size();
        left_out = tied - std::min(tied, tuning::most_finalists);
        for (const std::size_t i : finalists(candidates, tuning::finalists_within, tuning::most_finalists)) {
            chosen.push_back({ids[i], std::move(candidates[i]), {}, {}});
        }
    }
    return chosen;
}

/// As the finals have measured them so far, without those that failed.
std::vector<Candidate> of_finals(const std::vector<Finalist>& finalists) {
    std::vector<Candidate> candidates;
    for (const Finalist& finalist : finalists) {
        if (!finalist.failure) {
            candidates.push_back({finalist.recorded.key, finalist.series.p50_us(), finalist.series.round_medians_us()});
        }
    }
    return candidates;
}

FinalEntry ranked(const std::string& problem_key, const std::vector<Candidate>& candidates) {
    FinalEntry entry;
    entry.problem_key = problem_key;
    if (candidates.empty()) {
        return entry;
    }
    const Ranking ranking = rank(candidates);
    const auto tied = [&](std::size_t i) {
        return ranking.tied.size() > 1 && std::find(ranking.tied.begin(), ranking.tied.end(), i) != ranking.tied.end();
    };
    for (std::size_t place = 0; place < ranking.order.size(); ++place) {
        const std::size_t i = ranking.order[place];
        entry.finalists.push_back({candidates[i].key, candidates[i].rounds_us, static_cast<int>(place) + 1, tied(i)});
    }
    return entry;
}

}  // namespace

bool finals_over(int rounds, std::span<const Candidate> finalists) {
    return rounds >= tuning::most_final_rounds || (rounds >= tuning::final_rounds && resolution(finalists) <= tuning::final_resolution);
}

std::size_t run_finals(const SweepOptions& options, const Problem& problem, const std::vector<Configuration>& configurations,
                       Recorder& recorder, RoundTaker rounds, std::optional<Deadline> end) {
    const std::string key = problem.key();
    std::size_t left_out = 0;
    std::vector<Finalist> finalists = choose(key, configurations, recorder, left_out);
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
                finalist.failure = rounds.take(finalist.series, finalist.id, configurations[finalist.id]);
                lost = finalist.failure && finalist.failure->of_problem;
                recorder.update(key, 0);
            }
        }
    }
    if (lost) {
        // No fault of the finalists: they keep their records and are ranked by the rounds that they have.
        std::vector<Candidate> candidates;
        candidates.reserve(finalists.size());
        for (Finalist& finalist : finalists) {
            candidates.push_back(std::move(finalist.recorded));
        }
        FinalEntry entry = ranked(key, candidates);
        for (FinalEntry::Finalist& finalist : entry.finalists) {
            finalist.rounds_us.clear();
        }
        recorder.add(entry);
        return left_out;
    }
    for (const Finalist& finalist : finalists) {
        if (finalist.failure) {
            Record record = *recorder.find(key, configurations[finalist.id].key());
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
