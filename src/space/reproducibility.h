// Which configurations give equal bits: of a row whatever batch it lies in, and of dgamma from run to run. What the kernels' sources
// say, by the table of axes; verify/bits.h compares the bits themselves. docs/reproducibility.md
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"
#include "space/axes.h"
#include "space/configuration.h"
#include "space/device_info.h"
#include "space/space.h"

namespace normtune {

/// The values that set the order in which a row is summed up: "t128.v16.h1.c1". Configurations of one class give equal rows of equal
/// N, row stride and operation equal bits, whatever M and wherever in a batch.
std::string row_class(const Configuration& configuration, Backend backend);

/// The axes that a class is made of.
std::vector<Axis> axes_of_rows(Backend backend);

/// Why dgamma differs from run to run; empty: it does not, or the problem has none.
std::string varies_from_run_to_run(const Configuration& configuration, const Problem& problem, Backend backend);

/// What an axis does to bits, in a few words: "a row's, gpu", "dgamma varies: atomic (gpu), partials (cpu)"; empty: nothing.
std::string bits_help(const AxisRow& row);

inline constexpr std::string_view deterministic_rule_name = "deterministic";

/// The rule of --deterministic: it takes the configurations that vary.
Rule deterministic_rule(Backend backend);

}  // namespace normtune
