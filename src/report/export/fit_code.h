// Fitted ladders as code for launchers.
#pragma once

#include <span>
#include <string>

#include "judge/fit.h"

namespace normtune {

/// A header, or a module: a function an operation, from (rows, cols) to a Launch. Operations without a ladder are named in a comment.
std::string fit_cpp(std::span<const Fit> fits);
std::string fit_python(std::span<const Fit> fits);

}  // namespace normtune
