#include "support/clock.h"

#include <fmt/format.h>

namespace normtune {

std::string utc_timestamp() {
    return utc_timestamp(std::time(nullptr));
}

std::string utc_timestamp(std::time_t seconds_since_epoch) {
    std::tm utc{};
    gmtime_r(&seconds_since_epoch, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                       utc.tm_sec);
}

std::string latest_timestamp() {
    constexpr std::time_t day_s = 24 * 3600;
    return utc_timestamp(std::time(nullptr) + day_s);
}

}  // namespace normtune
