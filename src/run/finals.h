// The finals of a problem: its fastest configurations again, on fresh samples, in interleaved rounds of their own.
#pragma once

#include <optional>
#include <vector>

#include "run/recorder.h"
#include "run/worker_session.h"

namespace normtune {

/// Ranks the finalists among the recorded, passed trials of the problem and records the result. Choosing the least of
/// many noisy medians flatters whoever is chosen; these samples had no part in the choice. A finalist that fails here
/// gets the outcome of that instead of its former record.
/// `configurations` by TrialId; `problem` is the session's. Throws Interrupted, SystemError.
void run_finals(const SweepOptions& options, const Problem& problem, const std::vector<Configuration>& configurations,
                WorkerSession& session, Recorder& recorder, std::optional<Deadline> end);

}  // namespace normtune
