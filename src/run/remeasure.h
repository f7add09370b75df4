// Sweeps for a judge: suspects measured again, and the same swept again and again.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "judge/gate.h"
#include "judge/problem_ranking.h"
#include "run/device_choice.h"

namespace normtune {

/// Each sweep gets a sink of its own.
using MakeSink = std::function<std::unique_ptr<ProgressSink>()>;

/// What a judge of `runs` asks for, given what was measured again so far, is measured in sweeps of its own until it asks for nothing:
/// each problem's trials in the same rounds, as many as there may be, in folders that are removed again. `command` is said in the records.
/// Throws InputError: no such device, or another one than that of the runs.
using Judge = std::function<std::vector<TrialsAgain>(std::span<const Results> fresh)>;
void judge_measuring(std::span<const Results> runs, const DeviceWish& device, const std::vector<std::string>& command,
                     const MakeSink& make_sink, const Judge& judge);

/// Measures the verdict's suspects again, compares them with the baseline, and confirms or clears them. Throws InputError: suspects
/// that are not normtune's, no such device, or another one than the baseline's.
void confirm_suspects(GateVerdict& verdict, const Policy& policy, const ResultRows& baseline, const DeviceWish& device,
                      const MakeSink& make_sink);

struct RepeatedSweeps {
    std::vector<ResultRows> sweeps;  // one after another
    std::vector<ResultRows> twins;   // two: each trial twice in the same rounds
    bool interrupted = false;
};

/// The sweep of `options` so many times, and once more with twins, into folders sweep-1, …, twins and twins-second below `folder`.
RepeatedSweeps repeat_sweep(SweepOptions options, int times, const std::string& folder, const MakeSink& make_sink);

}  // namespace normtune
