// CUDA's own words in terms of the machine's functions, for sources that somebody else wrote. Included after kernel_prelude.h.
#pragma once

#define __global__ __attribute__((noinline))
#define __device__ static inline  // of each library its own, with the shared memory that stands in it
#define __shared__ NT_SHARED
#define __launch_bounds__(...)

struct emulation_thread {
    int x;
};
#define threadIdx (emulation_thread{nt_thread()})
#define blockIdx (emulation_thread{nt_program_x()})
#define __syncthreads() nt_barrier()
#define __shfl_xor_sync(lanes, value, mask) nt_shuffle_xor(value, mask)

inline float __uint_as_float(unsigned v) {
    return nt_bits_float(v);
}
inline unsigned __float_as_uint(float v) {
    return nt_float_bits(v);
}
inline float rsqrtf(float v) {
    return nt_rsqrt(v);
}
