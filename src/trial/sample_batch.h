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
    std::int64_t rotation_bytes = 0;            // of the sets that this rotation's launches have touched so far
    std::string timer;                          // "steady_clock", "events", "graph": how the device was timed
    std::string copy;                           // which copy it was; empty: none, or the device does not tell
    std::optional<double> clock_mhz;            // of the compute units, before and after in the mean
    std::optional<double> memory_clock_mhz;     // of the memory
    bool clocks_moved = false;                  // from before to after
    std::vector<std::string> throttle_reasons;  // empty: not throttled, or the driver does not tell
};

}  // namespace normtune
