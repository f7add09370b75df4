// The compiled passes that a configuration comes to on a problem.
#pragma once

#include <string>

#include "kernels/cpu/row_tile.h"
#include "problem/problem.h"

namespace normtune::cpu {

/// Index 0: the tile's rows side by side; 1: one row, for what is left of a run.
struct SelectedPasses {
    int rows = 1;     // side by side
    int vectors = 1;  // in flight a row
    SumPass square_sum[2] = {};
    WritePass scale_rows[2] = {};
    ResidentPass resident_forward[2] = {};
    SumPass gradient_sum[2] = {};
    WritePass gradient_rows[2] = {};
    ResidentPass resident_backward[2] = {};
    ColumnPass column_gradient = nullptr;
    GammaPass prepare_gamma = nullptr;
    FoldPass fold = nullptr;  // dgamma, rounded to the weights' type
    void (*fence)() = nullptr;
    std::string code_hash;  // of the names of the passes in use, and the build that has them: equal hash, equal code
};

/// Throws DeviceError (unsupported): a combination that is not built.
SelectedPasses select_passes(const PassSet& set, const Problem& problem, const Configuration& configuration);

}  // namespace normtune::cpu
