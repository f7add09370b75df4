// The finals of a problem: its fastest trials again, on fresh samples, in interleaved rounds of their own. Choosing the
// least of many noisy medians flatters whoever is chosen; these samples have no part in the choice. Beside them the fastest of
// each contestant (a provider) that has none among them, as a guest: out of the ranking, but in the same rounds. Pure.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "measure/ranking.h"
#include "measure/sampler.h"

namespace normtune {

inline constexpr std::size_t most_finalists = 8;
inline constexpr double finalists_within = 0.05;  // of the best p50
inline constexpr int final_rounds = 12;
inline constexpr int least_final_rounds = 6;  // where time runs out
/// The finals go on where rounds differ much, until the usual one of those that tie is told from the winner to this, or
/// the most rounds are over: kernels of 2 us that take 2.05 or 2.25 us from round to round need them.
inline constexpr double final_resolution = 0.01;
inline constexpr int most_final_rounds = 72;

/// A trial that passed.
struct FinalsTrial {
    Entrant entrant;       // by its ordinary rounds
    bool dropped = false;  // by a race: no finalist, unless who was faster has failed
    bool failed = false;   // in the finals
    bool leads = false;    // the incumbent of the last race: a finalist, whatever others took when it did not run beside them
    int contestant = 0;
};

struct FinalsResult {
    struct Place {
        std::size_t trial;
        std::vector<double> rounds_us;  // of the finals; empty: nothing could be measured any more, ranked by its ordinary rounds
        bool tied;
        bool guest = false;
    };
    std::vector<Place> places;  // the winner first, guests last
    std::size_t left_out = 0;   // not significantly slower than the best before, beyond what the finals take
};

/// Have the finals' rounds told what they can? `finalists` as these rounds have measured them.
bool finals_over(int rounds, std::span<const Entrant> finalists);

/// Where a finalist fails, or turns out to be wrong after its rounds, the finals begin again with the next best in its place: as long as
/// a trial is left, there is a winner. `fastest_failed_us`: p50 of the fastest trial that passed and failed later, before the finals.
FinalsResult hold_finals(std::vector<FinalsTrial> trials, FinalsSampler& sampler,
                         double fastest_failed_us = std::numeric_limits<double>::infinity());

}  // namespace normtune
