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

}  // namespace normtune
