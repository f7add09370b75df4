// Wall-clock time as text, for records and folder names. Never used for measuring.
#pragma once

#include <ctime>
#include <string>

namespace normtune {

/// "2026-11-20T23:59:59Z": UTC, whole seconds, ISO 8601.
std::string utc_timestamp();
std::string utc_timestamp(std::time_t seconds_since_epoch);

/// A day from now. Clocks of machines differ; what is dated later was not measured yet, or one of them is wrong.
std::string latest_timestamp();

}  // namespace normtune
