// What the values of an axis cost, for people and programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/axis_effect.h"
#include "report/sections.h"

namespace normtune {

std::vector<Section> axis_sections(std::span<const AxisEffect> effects);
/// schemas/axis.schema.json; an entry a device.
std::string axis_json(std::span<const AxisEffect> effects);

}  // namespace normtune
