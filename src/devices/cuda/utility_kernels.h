// Kernels of the measuring itself: copies for the limit, a read that evicts the L2, an empty launch for the floor.
#pragma once

namespace normtune::cuda {

/// nt_copy_U: U independent 16-byte loads a thread, then U stores; `vectors` counts 16-byte vectors.
/// nt_spin: never ends where *zero stays 0 (planted_faults.h).
/// nt_read: reads all of `vectors` and writes nothing unless the sum hits a value that it never has.
inline constexpr const char* utility_source = R"cuda(
template <int unroll>
__device__ void copy(const uint4* from, uint4* to, long long vectors) {
    const long long first = (long long)blockIdx.x * blockDim.x * unroll + threadIdx.x;
    uint4 held[unroll];
#pragma unroll
    for (int i = 0; i < unroll; ++i) {
        const long long at = first + (long long)i * blockDim.x;
        if (at < vectors) held[i] = __ldg(from + at);
    }
#pragma unroll
    for (int i = 0; i < unroll; ++i) {
        const long long at = first + (long long)i * blockDim.x;
        if (at < vectors) to[at] = held[i];
    }
}
extern "C" __global__ void nt_spin(const volatile int* zero) {
    while (*zero == 0) {}
}
extern "C" __global__ void nt_copy_1(const uint4* from, uint4* to, long long vectors) { copy<1>(from, to, vectors); }
extern "C" __global__ void nt_copy_2(const uint4* from, uint4* to, long long vectors) { copy<2>(from, to, vectors); }
extern "C" __global__ void nt_copy_4(const uint4* from, uint4* to, long long vectors) { copy<4>(from, to, vectors); }
extern "C" __global__ void nt_copy_8(const uint4* from, uint4* to, long long vectors) { copy<8>(from, to, vectors); }
extern "C" __global__ void nt_read(const uint4* from, unsigned* never, long long vectors) {
    unsigned seen = 0;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < vectors; at += (long long)gridDim.x * blockDim.x) {
        const uint4 v = from[at];
        seen |= v.x | v.y | v.z | v.w;
    }
    if (seen != 0) *never = seen;  // the region is all zeros
}
extern "C" __global__ void nt_empty() {}
)cuda";

}  // namespace normtune::cuda
