// A trial's timing: plain data, part of a record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/names.h"

namespace normtune {

/// dropped: out of a race after few rounds; no winner, unless all that were faster failed later (docs/strategies.md).
enum class StopReason { none, confidence, sample_cap, time_cap, dropped };
inline constexpr NameTable<StopReason, 5> stop_reason_names{{"none", "confidence", "sample_cap", "time_cap", "dropped"}};

/// Of a launch (11 days); a longer time is a mistake, not a measurement.
inline constexpr double longest_us = 1e12;

/// One round of one configuration: a batch of samples taken together, between those of the other configurations.
struct Round {
    double median_us = 0;
    int samples = 0;
    bool throttled = false;     // a throttled round that was kept because repeats ran out
    bool clocks_moved = false;  // within it, where the driver tells
    // Where one did: before and after the round; empty: not known.
    std::vector<double> clock_mhz{};
    std::vector<double> memory_clock_mhz{};
    friend bool operator==(const Round&, const Round&) = default;
};

/// The same trial in the rounds of one more worker process: other allocations, another state of the clocks.
struct Repetition {
    int process = 0;  // 2, 3, …: the ordinary rounds are the first's
    std::vector<Round> rounds;
    double p20_us = 0;
    double p50_us = 0;
    double p80_us = 0;
    double limit_us = 0;
    double floor_us = 0;
    friend bool operator==(const Repetition&, const Repetition&) = default;
};

struct Measurement {
    std::vector<Round> rounds;
    int rounds_taken = 0;  // of a results.csv, which has no rounds but their number; else 0
    int samples = 0;
    int launches_per_sample = 1;
    double p20_us = 0;
    double p50_us = 0;
    double p80_us = 0;
    double gbps = 0;                  // least bytes / p50, 10⁹ bytes a second
    double limit_us = 0;              // p50 of the fastest copy of the same bytes, in the same rounds
    std::string limit_copy;           // which copy that was, or "failed: " and why there is none; empty where the device does not tell
    double limit_ratio = 0;           // p50 / limit
    double floor_us = 0;              // p50 of an empty launch, in the same rounds
    std::int64_t memory_bytes = 0;    // tensors and workspace; rotation not counted
    std::int64_t rotation_bytes = 0;  // of the buffer sets that its launches touched
    bool cold = true;
    std::string timer;
    StopReason stop_reason = StopReason::none;
    int throttled_repeats = 0;
    std::optional<double> clock_mhz;         // of the compute units
    std::optional<double> memory_clock_mhz;  // of the memory
    std::vector<std::string> throttle_reasons;
    int rank = 0;                          // 1 the winner of its problem; 0 not ranked
    bool tied = false;                     // cannot be told apart from the winner
    std::vector<double> final_rounds_us;   // medians of the finals' fresh rounds; empty: not in the finals
    std::optional<double> final_floor_us;  // p50 of an empty launch in those rounds
    std::vector<Repetition> repetitions;   // in further processes, by their number

    /// Launched while the launch ahead ends, as the copies and empty launches beside it: not comparable with plain launches.
    bool dependent() const { return limit_copy.ends_with(".dependent"); }
    /// In the place of an earlier one of the same process.
    void add(Repetition repetition) {
        std::erase_if(repetitions, [&](const Repetition& r) { return r.process == repetition.process; });
        repetitions.push_back(std::move(repetition));
    }
    friend bool operator==(const Measurement&, const Measurement&) = default;
};

}  // namespace normtune
