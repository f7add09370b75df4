// Counts in sentences: "1 trial", "2 trials".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace normtune {

/// "trial" of one, else "trials", or `several` where that is another word.
inline std::string plural(std::uint64_t count, std::string_view one, std::string_view several = "") {
    return count == 1 ? std::string(one) : several.empty() ? std::string(one) + "s" : std::string(several);
}
/// "1 trial".
inline std::string counted(std::uint64_t count, std::string_view one, std::string_view several = "") {
    return fmt::format("{} {}", count, plural(count, one, several));
}

}  // namespace normtune
