// Providers side by side, as tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/side_by_side.h"
#include "report/sections.h"

namespace normtune {

/// "Side by side", a line a problem and a column a contestant; then "Means" by operation, where one has
/// several problems with normtune and another.
std::vector<Section> side_by_side_sections(std::span<const SideBySide> problems);

/// All that these tables may have, of normtune and these providers. `own_dependent`: normtune's own may be launched so.
std::vector<std::string> side_by_side_headings(std::span<const std::string> providers, bool own_dependent);

}  // namespace normtune
