// The finals of a problem: its fastest candidates again, on fresh samples, in interleaved rounds of their own.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "measure/ranking.h"
#include "run/recorder.h"
#include "run/rounds.h"

namespace normtune {

/// Have the finals' rounds told what they can? `finalists` as the rounds so far have measured them.
bool finals_over(int rounds, std::span<const Entrant> finalists);

/// Ranks the finalists among the recorded, passed trials of the problem and records the result. Choosing the least of
/// many noisy medians flatters whoever is chosen; these samples had no part in the choice. A finalist that fails here
/// gets the outcome of that instead of its former record.
/// What a race dropped is not among them. `candidates` by TrialId; `problem` is that of `rounds`'s session. Throws
/// Interrupted, SystemError. Returns how many more could not be told apart from the best by their ordinary rounds,
/// beyond what the finals take.
std::size_t run_finals(const SweepOptions& options, const Problem& problem, const std::vector<Candidate>& candidates, Recorder& recorder,
                       RoundTaker rounds, std::optional<Deadline> end);

}  // namespace normtune
