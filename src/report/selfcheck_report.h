// What `normtune selfcheck` found.
#pragma once

#include <string>

#include "judge/selfcheck.h"
#include "report/table.h"

namespace normtune {

/// Of sweeps one after another, and of trials measured twice in the same rounds; both have pairs.
std::string selfcheck_text(const SelfCheck& sweeps, const SelfCheck& twins, const Style& style);

}  // namespace normtune
