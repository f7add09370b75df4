// What `normtune selfcheck` found.
#pragma once

#include <string_view>
#include <vector>

#include "judge/selfcheck.h"
#include "report/sections.h"

namespace normtune {

inline constexpr std::string_view noisier_columns = "noisier than that|>threshold";
/// Of sweeps one after another, and of trials measured twice in the same rounds; both have pairs.
std::vector<Section> selfcheck_sections(const SelfCheck& sweeps, const SelfCheck& twins);

}  // namespace normtune
