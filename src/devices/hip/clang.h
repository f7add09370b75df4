// clang, found at run time: compiles for AMD architectures that the installed hiprtc does not know.
#pragma once

#include <string>

#include "devices/compile/compile_cache.h"

namespace normtune::hip {

/// "clang 19.1.7 (/usr/bin/clang-19)"; empty where there is none, and `why_not` says what would help. Looked for in
/// NORMTUNE_CLANG, below ROCM_PATH and /opt/rocm, and on the PATH: clang-21 … clang-17, clang.
std::string clang_name(std::string& why_not);

/// Throws DeviceError(compile_failed): what the compiler says, or how it ended.
CompiledCode clang_compile(const CompileJob& job);

}  // namespace normtune::hip
