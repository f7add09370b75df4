// Where ROCm's libraries are looked for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace normtune::hip {

/// Each stem ("libamdhip64") of ROCm 7, 6 and 5, in that order: below ROCM_PATH and HIP_PATH, by soname, below
/// /opt/rocm. All versions of a stem come before the next stem.
std::vector<std::string> rocm_libraries(std::span<const std::string_view> stems);

}  // namespace normtune::hip
