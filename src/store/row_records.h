// Rows read from a results.csv as the records that they were: for commands that judge configurations.
#pragma once

#include "store/result_rows.h"

namespace normtune {

/// What a CSV does not hold is not there: the plan's tallies, the rounds, the compiler's figures, and of the device all
/// but its name, architecture and driver. Throws InputError: rows of another benchmark (Liger-Kernel's), of several
/// devices, or with a configuration's key that does not parse.
Results records_of(const ResultRows& rows);

}  // namespace normtune
