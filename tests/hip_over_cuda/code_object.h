// An AMD code object around CUDA's machine code: the metadata that a reader of code objects looks for, and a segment
// that holds the cubin.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hip_over_cuda {

struct KernelNote {
    std::string name;
    int registers;
    int scratch_bytes;
    int shared_bytes;
};

std::string wrap(const std::vector<KernelNote>& kernels, std::span<const std::byte> cubin);

/// The cubin inside; null where `image` was not made by wrap.
const void* cubin_of(const void* image);

}  // namespace hip_over_cuda
