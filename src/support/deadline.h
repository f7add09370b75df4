// Points in time that a wait or a phase ends at.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace normtune {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline deadline_in(double seconds) {
    // Beyond a year a limit is none; the clamp keeps the conversion to the clock's ticks in range.
    constexpr double year_s = 3.2e7;
    const std::chrono::duration<double> wait(std::clamp(seconds, 0.0, year_s));
    return std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::steady_clock::duration>(wait);
}

inline bool past(const std::optional<Deadline>& deadline) {
    return deadline && std::chrono::steady_clock::now() >= *deadline;
}

}  // namespace normtune
