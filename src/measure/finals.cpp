#include "measure/finals.h"

#include <algorithm>
#include <map>

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

/// The finalists, the one that leads among them.
std::vector<std::size_t> choose_finalists(const std::vector<FinalsTrial>& trials, double fastest_failed_us) {
    std::vector<std::size_t> chosen = choose(trials, fastest_failed_us, finalists_within, most_finalists);
    for (std::size_t i = 0; i < trials.size(); ++i) {
        if (trials[i].leads && !trials[i].failed && !trials[i].dropped && std::ranges::find(chosen, i) == chosen.end()) {
            chosen.resize(std::min(chosen.size(), most_finalists - 1));
            chosen.push_back(i);
        }
    }
    return chosen;
}

/// The fastest of each contestant that has none among the chosen.
std::vector<std::size_t> guests_of(const std::vector<FinalsTrial>& trials, std::span<const std::size_t> chosen) {
    std::map<int, std::size_t> fastest;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const bool is_in = std::ranges::any_of(chosen, [&](std::size_t in) { return trials[in].contestant == trials[i].contestant; });
        if (trials[i].failed || is_in) {
            continue;
        }
        const auto [found, is_first] = fastest.try_emplace(trials[i].contestant, i);
        if (!is_first && trials[i].entrant.p50_us < trials[found->second].entrant.p50_us) {
            found->second = i;
        }
    }
    std::vector<std::size_t> out;
    std::ranges::transform(fastest, std::back_inserter(out), [](const auto& one) { return one.second; });
    return out;
}

/// The last of the entrants, of which there are more than trials that rank, are guests.
std::vector<FinalsResult::Place> ranked(std::span<const Entrant> entrants, std::span<const std::size_t> trials,
                                        std::size_t ranking_trials) {
    const Ranking ranking = rank(entrants.first(ranking_trials));
    std::vector<FinalsResult::Place> places;
    for (const std::size_t i : ranking.order) {
        const bool tied = ranking.tied.size() > 1 && std::find(ranking.tied.begin(), ranking.tied.end(), i) != ranking.tied.end();
        places.push_back({trials[i], entrants[i].rounds_us, tied});
    }
    for (std::size_t i = ranking_trials; i < trials.size(); ++i) {
        places.push_back({trials[i], entrants[i].rounds_us, false, true});
    }
    return places;
}

}  // namespace

bool finals_over(int rounds, std::span<const Entrant> finalists) {
    return rounds >= most_final_rounds || (rounds >= final_rounds && resolution(finalists) <= final_resolution);
}

FinalsResult hold_finals(std::vector<FinalsTrial> trials, FinalsSampler& sampler, double fastest_failed_us) {
    FinalsResult result;
    const std::size_t tied = choose(trials, fastest_failed_us, 0, trials.size()).size();
    result.left_out = tied - std::min(tied, most_finalists);
    const auto chosen_now = [&] { return choose_finalists(trials, fastest_failed_us); };
    for (bool failure = true, lost = false; failure && !lost;) {
        std::vector<std::size_t> chosen = chosen_now();
        const std::size_t ranking_trials = chosen.size();
        std::ranges::copy(guests_of(trials, chosen), std::back_inserter(chosen));
        std::vector<Entrant> entrants;
        const auto ranking_entrants = [&] { return std::span<const Entrant>(entrants).first(std::min(ranking_trials, entrants.size())); };
        failure = false;
        sampler.begin(chosen);
        const auto note_failures = [&] {
            for (std::size_t i = 0; i < chosen.size(); ++i) {
                FinalsTrial& trial = trials[chosen[i]];
                trial.failed = sampler.series(i) == nullptr;
                failure = failure || trial.failed;
            }
        };
        for (int round = 0; !chosen.empty() && !lost && !failure && !finals_over(round, ranking_entrants()); ++round) {
            if (round >= least_final_rounds && sampler.out_of_time()) {
                break;
            }
            lost = !sampler.take_round(std::vector<bool>(chosen.size(), true));
            entrants.clear();
            note_failures();
            for (std::size_t i = 0; i < chosen.size(); ++i) {
                const Entrant& before = trials[chosen[i]].entrant;
                const Series* series = sampler.series(i);
                entrants.push_back(series == nullptr ? before : Entrant{before.key, series->p50_us(), series->round_medians_us()});
            }
        }
        if (!lost && !failure) {
            lost = !sampler.look_at_timed();
            note_failures();
        }
        result.places = ranked(entrants, chosen, ranking_trials);
        if (lost) {  // no fault of those that did not fail: they are ranked by the rounds that they have
            const std::vector<std::size_t> left = chosen_now();
            entrants.clear();
            std::transform(left.begin(), left.end(), std::back_inserter(entrants),
                           [&](std::size_t trial) { return trials[trial].entrant; });
            result.places = ranked(entrants, left, left.size());
            std::for_each(result.places.begin(), result.places.end(), [](FinalsResult::Place& place) { place.rounds_us.clear(); });
        }
    }
    return result;
}

}  // namespace normtune
