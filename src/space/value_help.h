// What each named value of an axis does, in a line: for `normtune explain` and docs/spaces.md. Numbers are told by their axis's help.
#pragma once

#include <string_view>

#include "space/axes.h"

namespace normtune {

/// Of the value, where the axis's values have names; else of the axis. One sentence or two, with a full stop.
std::string_view value_help(Axis axis, int value);

}  // namespace normtune
