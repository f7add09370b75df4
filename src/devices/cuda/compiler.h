// NVRTC behind a pool of threads and the cache on disk.
#pragma once

#include <string>

#include "devices/compile/compile_pool.h"

namespace normtune::cuda {

class Compiler : public CompilePool {
public:
    /// `threads` 0: one a core.
    Compiler(std::string arch, int threads);
};

}  // namespace normtune::cuda
