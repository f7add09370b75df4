// What differs between the compilers: keywords here; indices, barriers, shuffles, memory accesses and atomics in
// nvidia.gpu.h (where __CUDA_ARCH__ is set: NVRTC, nvcc, clang) and amd.gpu.h (where __AMDGCN__ is: hiprtc, clang). A
// host emulation defines NT_EMULATED and all of it beforehand. Nothing needs a vendor's header.
#if !defined(NT_EMULATED)

#define NT_DEVICE __attribute__((device)) inline __attribute__((always_inline))
// Sizes and conditions that constants of the source are made from: clang evaluates those as the host's.
#define NT_CONSTANT __attribute__((host)) __attribute__((device)) inline
#define NT_SHARED __attribute__((shared))
#define NT_UNROLL _Pragma("unroll")
#define NT_NO_UNROLL _Pragma("unroll 1")

#if !defined(__CUDA_ARCH__) && !defined(__AMDGCN__)
#error "compile this source for an NVIDIA or AMD device (NVRTC, hiprtc, or clang's device pass)"
#endif

#endif  // NT_EMULATED

// Are programs launched in clusters: those of a row, or those that sum parts of dgamma's rows?
#define NT_IN_CLUSTERS (NT_CLUSTER > 1 || NT_REDUCE_CLUSTER > 1)
