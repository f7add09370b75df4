#include "devices/cuda/compiler.h"

#include <fmt/format.h>

#include "devices/cuda/nvrtc.h"

namespace normtune::cuda {
namespace {

std::string compiler_name() {
    std::string why_not;
    return fmt::format("NVRTC {}", nvrtc_version(why_not));
}

}  // namespace

Compiler::Compiler(std::string arch, int threads) : CompilePool(compiler_name(), std::move(arch), threads, nvrtc_compile) {}

}  // namespace normtune::cuda
