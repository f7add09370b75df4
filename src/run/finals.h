// The finals of a problem: who takes part is read from its records, and what comes of them goes there.
#pragma once

#include <optional>
#include <vector>

#include "measure/finals.h"
#include "run/recorder.h"
#include "run/rounds.h"

namespace normtune {

/// Each draws its seeds for itself.
struct FinalsTakers {
    RoundTaker kernels;
    RoundTaker empty_launches;
};

/// Ranks the finalists among the recorded, passed trials of the problem. A finalist that fails here gets the outcome of
/// that instead of its former record. `candidates` by TrialId; `problem` is that of the takers' session; `fastest_failed_us`
/// as in hold_finals; `leader`: the incumbent of the last race. Throws Interrupted, SystemError. Returns FinalsResult::left_out.
std::size_t run_finals(const SweepOptions& options, const Problem& problem, const std::vector<Candidate>& candidates, Recorder& recorder,
                       FinalsTakers takers, std::optional<Deadline> end, double fastest_failed_us, std::optional<TrialId> leader);

}  // namespace normtune
