// Wall-clock time as text, for records and folder names. Never used for measuring.
#pragma once

#include <ctime>
#include <string>

namespace normtune {

/// "2026-11-20T23:59:59Z": UTC, whole seconds, ISO 8601.
std::string utc_timestamp();
std::string utc_timestamp(std::time_t seconds_since_epoch);

}  // namespace normtune
