// Ratios of two times, for people.
#pragma once

#include <string>

namespace normtune {

/// "+3.1%", "-0.4%", "x23" for large ratios; "-" where there is none.
std::string change_text(double ratio);
/// "+2.1% to +4.2%"; "+2.1% or more" and "says nothing" where an end is ten times the time, or a tenth.
std::string interval_text(double low, double high);

}  // namespace normtune
