#include "measure/finals.h"

#include <algorithm>

namespace normtune {

namespace {

/// Trials that deserve fresh samples, the fastest `most` of those whose p50 is within `within` of the best or that tie with it.
std::vector<std::size_t> choose(const std::vector<FinalsTrial>& trials, double fastest_failed_us, double within, std::size_t most) {
    bool dropped_too = true;  // who was faster than all others has failed, and they were dropped for it
    for (const FinalsTrial& trial : trials) {
        fastest_failed_us = trial.failed ? std::min(fastest_failed_us, trial.entrant.p50_us) : fastest_failed_us;
    }
    for (const FinalsTrial& trial : trials) {
        dropped_too = dropped_too && (trial.failed || trial.dropped || trial.entrant.p50_us >= fastest_failed_us);
    }
    std::vector<Entrant> entrants;
    std::vector<std::size_t> ids;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        if (!trials[i].failed && (!trials[i].dropped || dropped_too)) {
            entrants.push_back(trials[i].entrant);
            ids.push_back(i);
        }
    }
    std::vector<std::size_t> chosen = finalists(entrants, within, most);
    std::transform(chosen.begin(), chosen.end(), chosen.begin(), [&](std::size_t i) { return ids[i]; });
    return chosen;
}

std::vector<FinalsResult::Place> ranked(std::span<const Entrant> entrants, std::span<const std::size_t> trials) {
    const Ranking ranking = rank(entrants);
    std::vector<FinalsResult::Place> places;
    for (const std::size_t i : ranking.order) {
        const bool tied = ranking.tied.size() > 1 && std::find(ranking.tied.begin(), ranking.tied.end(), i) != ranking.tied.end();
        places.push_back({trials[i], entrants[i].rounds_us, tied});
    }
    return places;
}

/// One pass of rounds among the trials chosen.
class Pass {
public:
    Pass(std::vector<FinalsTrial>& trials, std::vector<std::size_t> chosen, FinalsSampler& sampler, FinalsResult& result)
        : trials_(trials), chosen_(std::move(chosen)), sampler_(sampler), result_(result), running_(chosen_.size(), true) {
        sampler_.begin(chosen_);
    }

    enum class End { over, lost, failure };
    /// Until the rounds have told what they can, or a finalist fails; a pass goes on after a failure.
    End run() {
        while (!finals_over(rounds_, entrants_) && !(rounds_ >= least_final_rounds && sampler_.out_of_time())) {
            const bool lost = !sampler_.take_round(running_);
            ++rounds_;
            const bool failure = note_failures();
            measure();
            if (lost || failure) {
                return lost ? End::lost : End::failure;
            }
        }
        return End::over;
    }
    bool has(std::size_t trial) const { return std::find(chosen_.begin(), chosen_.end(), trial) != chosen_.end(); }
    std::vector<FinalsResult::Place> places() const { return ranked(entrants_, ids_); }

private:
    bool note_failures() {
        const std::size_t before = result_.failed.size();
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            if (running_[i] && sampler_.series(i) == nullptr) {
                running_[i] = false;
                trials_[chosen_[i]].failed = true;
                result_.failed.push_back(chosen_[i]);
            }
        }
        return result_.failed.size() > before;
    }
    void measure() {
        entrants_.clear();
        ids_.clear();
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            if (running_[i]) {
                const Series& series = *sampler_.series(i);
                entrants_.push_back({trials_[chosen_[i]].entrant.key, series.p50_us(), series.round_medians_us()});
                ids_.push_back(chosen_[i]);
            }
        }
    }

    std::vector<FinalsTrial>& trials_;
    std::vector<std::size_t> chosen_;
    FinalsSampler& sampler_;
    FinalsResult& result_;
    std::vector<bool> running_;
    int rounds_ = 0;
    std::vector<Entrant> entrants_;  // those that run, as the rounds have measured them
    std::vector<std::size_t> ids_;   // their trials
};

}  // namespace

bool finals_over(int rounds, std::span<const Entrant> finalists) {
    return rounds >= most_final_rounds || (rounds >= final_rounds && resolution(finalists) <= final_resolution);
}

FinalsResult hold_finals(std::vector<FinalsTrial> trials, FinalsSampler& sampler, double fastest_failed_us) {
    FinalsResult result;
    const auto chosen = [&] { return choose(trials, fastest_failed_us, finalists_within, most_finalists); };
    const std::size_t tied = choose(trials, fastest_failed_us, 0, trials.size()).size();
    result.left_out = tied - std::min(tied, most_finalists);
    std::vector<std::size_t> next = chosen();
    while (!next.empty()) {
        Pass pass(trials, std::move(next), sampler, result);
        Pass::End end = pass.run();
        for (; end == Pass::End::failure; end = pass.run()) {
            next = chosen();
            if (next.empty() || !std::all_of(next.begin(), next.end(), [&](std::size_t trial) { return pass.has(trial); })) {
                break;  // fresh rounds for all: those of a place are taken side by side with those of the others
            }
        }
        if (end == Pass::End::over) {
            result.places = pass.places();
            break;
        }
        if (end == Pass::End::lost) {
            // No fault of the others: they are ranked by the rounds that they have.
            next = chosen();
            std::vector<Entrant> entrants;
            for (const std::size_t trial : next) {
                entrants.push_back(trials[trial].entrant);
            }
            result.places = ranked(entrants, next);
            for (FinalsResult::Place& place : result.places) {
                place.rounds_us.clear();
            }
            break;
        }
    }
    return result;
}

}  // namespace normtune
