// The shapes that verification adds to a problem's own.
#pragma once

#include <vector>

#include "problem/problem.h"
#include "space/configuration.h"
#include "space/device_info.h"

namespace normtune {

/// Beside the problem's shape: rows that no whole tile of the configuration covers, M = 1, and columns of another number that no vector
/// divides (one of 409, 3571 and 17389, whichever is of N's order), with a row stride where the shape has none and the problem can have
/// one. A GPU compiles the last by itself. On a CPU, where one code serves all: a row stride above N and the odd N next below, too. Few and
/// the same for most configurations, so that references serve many; the shape itself is not among them, nor is any twice.
std::vector<Shape> companion_shapes(const Problem& problem, const Configuration& configuration, const DeviceInfo& device);

}  // namespace normtune
