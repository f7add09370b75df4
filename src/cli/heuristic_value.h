// A user's own rules of thumb as an option.
#pragma once

#include <vector>

#include "cli/value.h"
#include "judge/thumb_rule.h"

namespace normtune::cli {

/// NAME=EXPRESSION, added to `target`; a name that is there already is refused.
Value heuristic(std::vector<ThumbRule>& target);

}  // namespace normtune::cli
