// A package for PyTorch, compiled and written.
#pragma once

#include <string>

#include "report/export/torch_package.h"

namespace normtune::cli {

/// Compiles the package's kernels and writes it into a new folder; what was written, for the user. Throws InputError (there is
/// no compiler, the folder is in use) and SystemError.
std::string write_torch_package(const TorchPackage& package, const std::string& out);

}  // namespace normtune::cli
