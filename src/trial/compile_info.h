// What the compiler says of a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "space/rules.h"

namespace normtune {

/// A value that a backend does not have stays empty.
struct CompileInfo {
    double compile_ms = 0;  // 0: compiled ahead of time
    bool from_cache = false;
    std::string code_hash;  // of the machine code; on a CPU of the selected functions, and the build: equal hash, equal code
    std::optional<int> registers;
    std::optional<int> spill_bytes;
    std::optional<int> shared_bytes;
    std::optional<double> occupancy;   // resident threads over the most possible, 0…1
    std::int64_t workspace_bytes = 0;  // beside the op's tensors: dgamma partials, scratch
    std::int64_t programs = 0;         // grid of the main kernel

    CodeFigures figures() const { return {registers, spill_bytes, shared_bytes, occupancy}; }
};

}  // namespace normtune
