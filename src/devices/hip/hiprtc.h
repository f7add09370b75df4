// hiprtc, opened at run time. It compiles one program at a time in a process, and an old one ends the process on an
// architecture that it does not know, so it runs in processes of its own.
#pragma once

#include <optional>
#include <string>

#include "devices/compile/compile_cache.h"

namespace normtune::hip {

/// "hiprtc 9.0 (libamdhip64.so.5)"; empty where there is none, and `why_not` says what would help.
std::string hiprtc_name(std::string& why_not);

/// Compiles in a child process. Throws DeviceError(compile_failed): what the compiler says, or how it ended.
CompiledCode hiprtc_compile(const CompileJob& job);

/// The executable that is started for it; this one, unless it is another that cannot compile (a test).
std::string& hip_compiler_executable();

/// This process as such a child: nothing where the command line is not one's. Its exit status otherwise.
std::optional<int> run_as_hip_compiler(int argc, char** argv);

}  // namespace normtune::hip
