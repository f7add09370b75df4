// Kernels of the measuring itself: copies for the limit, a read that evicts the L2, an empty launch for the floor.
#pragma once

namespace normtune::gpu {

/// nt_copy_U: U independent 16-byte loads a thread, then U stores; `vectors` counts 16-byte vectors.
/// nt_read: reads all of `vectors` and writes nothing unless the sum hits a value that it never has.
/// nt_gate: ends once *flag is `ticket`.
/// Free of vendor headers, so that every compiler of a toolchain takes it.
inline constexpr const char* utility_source = R"gpu(
#if defined(__AMDGCN__)
#define NT_DEVICE __attribute__((device)) inline
#define NT_KERNEL extern "C" __attribute__((global)) void
typedef unsigned nt_vector __attribute__((ext_vector_type(4)));
NT_DEVICE int nt_thread() { return (int)__builtin_amdgcn_workitem_id_x(); }
NT_DEVICE int nt_program() { return (int)__builtin_amdgcn_workgroup_id_x(); }
NT_DEVICE int nt_threads() { return (int)__builtin_amdgcn_workgroup_size_x(); }
NT_DEVICE long long nt_all_threads() { return (long long)__builtin_amdgcn_grid_size_x(); }
NT_DEVICE nt_vector nt_load(const nt_vector* p) { return *p; }
NT_DEVICE unsigned nt_any(nt_vector v) { return v.x | v.y | v.z | v.w; }
#else
#define NT_DEVICE __device__ inline
#define NT_KERNEL extern "C" __global__ void
typedef uint4 nt_vector;
NT_DEVICE int nt_thread() { return threadIdx.x; }
NT_DEVICE int nt_program() { return blockIdx.x; }
NT_DEVICE int nt_threads() { return blockDim.x; }
NT_DEVICE long long nt_all_threads() { return (long long)gridDim.x * blockDim.x; }
NT_DEVICE nt_vector nt_load(const nt_vector* p) { return __ldg(p); }
NT_DEVICE unsigned nt_any(nt_vector v) { return v.x | v.y | v.z | v.w; }
#endif
template <int unroll>
NT_DEVICE void copy(const nt_vector* from, nt_vector* to, long long vectors) {
    const long long first = (long long)nt_program() * nt_threads() * unroll + nt_thread();
    nt_vector held[unroll];
#pragma unroll
    for (int i = 0; i < unroll; ++i) {
        const long long at = first + (long long)i * nt_threads();
        if (at < vectors) held[i] = nt_load(from + at);
    }
#pragma unroll
    for (int i = 0; i < unroll; ++i) {
        const long long at = first + (long long)i * nt_threads();
        if (at < vectors) to[at] = held[i];
    }
}
NT_KERNEL nt_gate(const volatile unsigned* flag, unsigned ticket) {
    while (*flag != ticket) {}
}
NT_KERNEL nt_copy_1(const nt_vector* from, nt_vector* to, long long vectors) { copy<1>(from, to, vectors); }
NT_KERNEL nt_copy_2(const nt_vector* from, nt_vector* to, long long vectors) { copy<2>(from, to, vectors); }
NT_KERNEL nt_copy_4(const nt_vector* from, nt_vector* to, long long vectors) { copy<4>(from, to, vectors); }
NT_KERNEL nt_copy_8(const nt_vector* from, nt_vector* to, long long vectors) { copy<8>(from, to, vectors); }
NT_KERNEL nt_read(const nt_vector* from, unsigned* never, long long vectors) {
    unsigned seen = 0;
    for (long long at = (long long)nt_program() * nt_threads() + nt_thread(); at < vectors; at += nt_all_threads()) {
        seen |= nt_any(from[at]);
    }
    if (seen != 0) *never = seen;  // the region is all zeros
}
NT_KERNEL nt_empty() {}
)gpu";

}  // namespace normtune::gpu
