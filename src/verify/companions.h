// The shapes that verification adds to a problem's own.
#pragma once

#include <vector>

#include "problem/problem.h"
#include "space/configuration.h"

namespace normtune {

/// Beside `shape`: rows that no whole tile of the configuration covers, M = 1, a row stride above N, the odd N next
/// below, and one of 409, 3571 and 17389 (whichever is of N's order). Few and the same for most configurations, so that
/// references serve many; `shape` itself is not among them, nor is any twice.
std::vector<Shape> companion_shapes(const Shape& shape, const Configuration& configuration, int warp_size);

}  // namespace normtune
