// Compiling for a device that need not be here: what `plan --compile` asks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "devices/device.h"

namespace normtune {

class CodeCompiler {
public:
    virtual ~CodeCompiler() = default;
    /// The compiler and its version, "NVRTC 13.0".
    virtual std::string name() const = 0;
    /// Queues the candidate's kernels; what does not compile is told by compile.
    virtual void ahead(const Problem& problem, const Candidate& candidate) = 0;
    /// What the compiler says of them. Throws DeviceError: unsupported, compile_failed.
    virtual CompileInfo compile(const Problem& problem, const Candidate& candidate) = 0;
    /// The machine code (a cubin). Throws as compile does.
    virtual std::vector<std::byte> image(const Problem& problem, const Candidate& candidate) = 0;
};

}  // namespace normtune
