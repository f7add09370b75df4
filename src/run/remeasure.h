// Sweeps for a judge: suspects measured again, and the same swept again and again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "judge/gate.h"
#include "run/device_choice.h"

namespace normtune {

/// Each sweep gets a sink of its own.
using MakeSink = std::function<std::unique_ptr<ProgressSink>()>;

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
