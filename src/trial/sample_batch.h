// What one round of measuring gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace normtune {

struct SampleBatch {
    std::vector<double> us;  // one value a sample, microseconds a launch
    int launches_per_sample = 1;
    std::int64_t rotation_bytes = 0;         // of the sets that this rotation's launches have touched so far
    std::string timer;                       // "steady_clock", "events", "graph": how the device was timed
    std::string copy;                        // which copy it was; empty: none, or the device does not tell
    std::optional<double> clock_mhz;         // of the compute units, after the batch
    std::optional<double> memory_clock_mhz;  // of the memory
    std::optional<double> clock_before_mhz;  // both before it
    std::optional<double> memory_clock_before_mhz;
    bool clocks_moved = false;                  // from before to after, by more than a step
    std::vector<std::string> throttle_reasons;  // empty: not throttled, or the driver does not tell
};

}  // namespace normtune
