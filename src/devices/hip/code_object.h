// What an AMD code object says of its kernels. Formats: LLVM, User Guide for AMDGPU Backend (code object V3 to V6
// metadata), and clang-offload-bundler's bundles. Read by hand over <elf.h>'s structures: one loop finds the one note, and libelf
// would put itself, zlib and zstd into an executable that is to start anywhere.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace normtune::hip {

struct KernelFigures {
    std::string name;
    int vector_registers = 0;   // of a lane; on CDNA 2 and 3 accumulation registers included
    int scalar_registers = 0;   // of a wavefront
    int spilled_registers = 0;  // vector registers
    int scratch_bytes = 0;      // of a lane: spills, and whatever else lies in memory
    int shared_bytes = 0;       // static
    int wavefront_size = 0;
};

/// The ELF inside a bundle, or `image` itself where it is one. Throws InputError: neither.
std::span<const std::byte> elf_of(std::span<const std::byte> image);

/// Of every kernel. Throws InputError: truncated, no AMD metadata, metadata of another form.
std::vector<KernelFigures> kernel_figures(std::span<const std::byte> image);

}  // namespace normtune::hip
