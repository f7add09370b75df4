// The instruction sets that the passes are built for, and the choice among them at run time.
#pragma once

#include <string>
#include <vector>

#include "kernels/cpu/row_tile.h"

namespace normtune::cpu {

/// The sets that this build has (CMake's NORMTUNE_INSTRUCTION_SETS) and this processor can run, the widest first; the last one is
/// "baseline".
std::vector<const PassSet*> usable_pass_sets();

/// The widest usable set, or a lower one that the environment variable NORMTUNE_CPU_ISA names
/// (baseline, avx2, avx512). Throws InputError: an unknown name, or a set that is not among them.
const PassSet& chosen_pass_set();

/// "x86-64-avx512", "x86-64-avx2", "x86-64", "aarch64", …
std::string arch_name(const PassSet& set);

}  // namespace normtune::cpu
