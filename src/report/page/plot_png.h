// A plot as PNG, by librsvg's rsvg-convert.
#pragma once

#include <string>
#include <string_view>

#include "report/page/plot.h"

namespace normtune {

/// The file's bytes, two pixels a unit of the SVG. Throws SystemError: rsvg-convert is not on PATH (and the package that has it), or
/// failed.
std::string png_of(const Plot& plot, std::string_view about);

}  // namespace normtune
