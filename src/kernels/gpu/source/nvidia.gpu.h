// NVIDIA, from sm_75 on; asynchronous copies from sm_80, dependent launches and vector atomics from sm_90.
#if !defined(NT_EMULATED) && defined(__CUDA_ARCH__)

#define NT_NVIDIA 1
#define NT_KERNEL(threads, programs) extern "C" __attribute__((global)) void __attribute__((launch_bounds(threads, programs)))
#if defined(__CUDACC_RTC__) || defined(__NVCC__)
#undef NT_CONSTANT
#undef NT_DEVICE
#undef NT_SHARED
#undef NT_KERNEL
#define NT_CONSTANT __device__ __forceinline__
#define NT_DEVICE __device__ __forceinline__
#define NT_SHARED __shared__
#define NT_KERNEL(threads, programs) extern "C" __global__ void __launch_bounds__(threads, programs)
#endif

NT_DEVICE int nt_special(int which) {
    int value;
    if (which == 0) {
        asm("mov.u32 %0, %%tid.x;" : "=r"(value));
    } else if (which == 1) {
        asm("mov.u32 %0, %%ctaid.x;" : "=r"(value));
    } else {
        asm("mov.u32 %0, %%ctaid.y;" : "=r"(value));
    }
    return value;
}
#if defined(__CUDACC_RTC__) || defined(__NVCC__)
// Told its range, the compiler divides by shifts and drops masks that it proves true.
NT_DEVICE int nt_thread() {
    const int thread = static_cast<int>(threadIdx.x);
    __builtin_assume(thread >= 0 && thread < 1024);
    return thread;
}
#else
NT_DEVICE int nt_thread() { return nt_special(0); }
#endif
NT_DEVICE int nt_program_x() { return nt_special(1); }
NT_DEVICE int nt_program_y() { return nt_special(2); }

NT_DEVICE void nt_barrier() { asm volatile("barrier.sync 0;" ::: "memory"); }
NT_DEVICE void nt_group_barrier(int group, int threads) { asm volatile("barrier.sync %0, %1;" ::"r"(group + 1), "r"(threads) : "memory"); }
#define NT_GROUP_BARRIERS 15

NT_DEVICE float nt_shuffle_xor(float v, int mask) {
    float out;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(out) : "f"(v), "r"(mask));
    return out;
}

/// What lane `from` of each `Lanes` lanes has.
template <int Lanes>
NT_DEVICE float nt_shuffle_from(float v, int from) {
    float out;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, %3, 0xffffffff;" : "=f"(out) : "f"(v), "r"(from), "n"((32 - Lanes) << 8 | 31));
    return out;
}

// The compiler may assume nothing about the word from here on.
NT_DEVICE void nt_forget(unsigned& word) { asm volatile("" : "+r"(word)); }
NT_DEVICE unsigned nt_float_bits(float v) {
    unsigned out;
    asm("mov.b32 %0, %1;" : "=r"(out) : "f"(v));
    return out;
}
NT_DEVICE float nt_bits_float(unsigned v) {
    float out;
    asm("mov.b32 %0, %1;" : "=f"(out) : "r"(v));
    return out;
}
NT_DEVICE float nt_rsqrt(float v) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
NT_DEVICE float nt_from_fp16(unsigned bits) {
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(static_cast<unsigned short>(bits)));
    return out;
}
NT_DEVICE unsigned nt_pair_fp16(float low, float high) {
    unsigned out;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
#else
    unsigned short l, h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(l) : "f"(low));
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(high));
    out = static_cast<unsigned>(l) | static_cast<unsigned>(h) << 16;
#endif
    return out;
}
#if __CUDA_ARCH__ >= 800
#define NT_PAIR_BF16 1
NT_DEVICE unsigned nt_pair_bf16(float low, float high) {
    unsigned out;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
}
#define NT_MULTIPLY_PAIRS 1
NT_DEVICE unsigned nt_multiply_pair_bf16(unsigned a, unsigned b) {
    constexpr unsigned minus_zeros = 0x80008000u;  // plus these, a product keeps its sign where it is 0
    unsigned out;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(minus_zeros));
    return out;
}
NT_DEVICE unsigned nt_multiply_pair_fp16(unsigned a, unsigned b) {
    unsigned out;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    return out;
}
#endif

#if __CUDA_ARCH__ >= 800
// How long the L2 keeps what is read or written: policies of single accesses.
#define NT_L2_POLICIES 1
NT_DEVICE unsigned long long nt_evict_first() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
NT_DEVICE unsigned long long nt_evict_last() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
#else
#define NT_L2_POLICIES 0
#endif

#if NT_IS(LOAD_HINT, streaming)
#define NT_LOAD_OP ".cs"
#elif NT_IS(LOAD_HINT, cache_global)
#define NT_LOAD_OP ".cg"
#else
#define NT_LOAD_OP ""
#endif
#if NT_IS(STORE_HINT, streaming)
#define NT_STORE_OP ".cs"
#elif NT_IS(STORE_HINT, cache_global)
#define NT_STORE_OP ".cg"
#else
#define NT_STORE_OP ""
#endif

// Reads of tensors. `Constant`: nothing writes them while the kernel runs, so the read-only path may serve them. `Again`: what is constant
// is read once more.
#define NT_READ(OP, CLOBBER)                                                                                                          \
    if constexpr (Bytes == 16) {                                                                                                      \
        asm volatile("ld.global" OP ".v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p)CLOBBER); \
    } else if constexpr (Bytes == 8) {                                                                                                \
        asm volatile("ld.global" OP ".v2.u32 {%0,%1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(p)CLOBBER);                               \
    } else if constexpr (Bytes == 4) {                                                                                                \
        asm volatile("ld.global" OP ".u32 %0, [%1];" : "=r"(w[0]) : "l"(p)CLOBBER);                                                   \
    } else {                                                                                                                          \
        unsigned short h;                                                                                                             \
        asm volatile("ld.global" OP ".u16 %0, [%1];" : "=h"(h) : "l"(p)CLOBBER);                                                      \
        w[0] = h;                                                                                                                     \
    }
#define NT_READ_BY(OP, POLICY, CLOBBER)                                                                                                 \
    if constexpr (Bytes == 16) {                                                                                                        \
        asm volatile("ld.global" OP ".L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"                                                   \
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])                                                                   \
                     : "l"(p), "l"(POLICY)CLOBBER);                                                                                     \
    } else if constexpr (Bytes == 8) {                                                                                                  \
        asm volatile("ld.global" OP ".L2::cache_hint.v2.u32 {%0,%1}, [%2], %3;" : "=r"(w[0]), "=r"(w[1]) : "l"(p), "l"(POLICY)CLOBBER); \
    } else if constexpr (Bytes == 4) {                                                                                                  \
        asm volatile("ld.global" OP ".L2::cache_hint.u32 %0, [%1], %2;" : "=r"(w[0]) : "l"(p), "l"(POLICY)CLOBBER);                     \
    } else {                                                                                                                            \
        unsigned short h;                                                                                                               \
        asm volatile("ld.global" OP ".L2::cache_hint.u16 %0, [%1], %2;" : "=h"(h) : "l"(p), "l"(POLICY)CLOBBER);                        \
        w[0] = h;                                                                                                                       \
    }
#define NT_NO_CLOBBER
template <int Bytes, bool Constant, bool Again = false>
NT_DEVICE void nt_read(unsigned* w, const void* p) {
#if NT_L2_POLICIES && NT_IS(LOAD_HINT, streaming) && NT_IS(RESIDENCY, reload)
    if constexpr (Constant && Again) {
        NT_READ_BY(".nc.L1::evict_last", nt_evict_last(), NT_NO_CLOBBER)
        return;
    } else if constexpr (Constant) {
        NT_READ_BY(".nc.L1::evict_first", nt_evict_first(), NT_NO_CLOBBER)
        return;
    }
#elif NT_L2_POLICIES && NT_IS(LOAD_HINT, evict_last)
    if constexpr (Constant) {
        NT_READ_BY(".nc", nt_evict_last(), NT_NO_CLOBBER)
    } else {
        NT_READ_BY("", nt_evict_last(), : "memory")
    }
    return;
#endif
    if constexpr (Again) {
        NT_READ(".nc", NT_NO_CLOBBER)
    } else if constexpr (Constant) {
        NT_READ(NT_LOAD_OP ".nc", NT_NO_CLOBBER)
    } else {
        NT_READ(NT_LOAD_OP, : "memory")
    }
}

// The same where `inside`, else the words stay as they are. Predicated by hand: around a branch the compiler would compute each address
// anew, and read the pointer's parameter again for it.
#define NT_READ_IF(OP, CLOBBER)                                                                                                                            \
    if constexpr (Bytes == 16) {                                                                                                                           \
        asm volatile("{ .reg .pred q; setp.ne.s32 q, %5, 0; @q ld.global" OP ".v4.u32 {%0,%1,%2,%3}, [%4]; }"                                              \
                     : "+r"(w[0]), "+r"(w[1]), "+r"(w[2]), "+r"(w[3])                                                                                      \
                     : "l"(p), "r"(q)CLOBBER);                                                                                                             \
    } else if constexpr (Bytes == 8) {                                                                                                                     \
        asm volatile("{ .reg .pred q; setp.ne.s32 q, %3, 0; @q ld.global" OP ".v2.u32 {%0,%1}, [%2]; }" : "+r"(w[0]), "+r"(w[1]) : "l"(p), "r"(q)CLOBBER); \
    } else if constexpr (Bytes == 4) {                                                                                                                     \
        asm volatile("{ .reg .pred q; setp.ne.s32 q, %2, 0; @q ld.global" OP ".u32 %0, [%1]; }" : "+r"(w[0]) : "l"(p), "r"(q)CLOBBER);                     \
    } else {                                                                                                                                               \
        unsigned short h = static_cast<unsigned short>(w[0]);                                                                                              \
        asm volatile("{ .reg .pred q; setp.ne.s32 q, %2, 0; @q ld.global" OP ".u16 %0, [%1]; }" : "+h"(h) : "l"(p), "r"(q)CLOBBER);                        \
        w[0] = h;                                                                                                                                          \
    }
#define NT_PREDICATED 1
template <int Bytes, bool Constant, bool Again = false>
NT_DEVICE void nt_read_if(unsigned* w, const void* p, bool inside) {
#if NT_L2_POLICIES && NT_IS(LOAD_HINT, streaming) && NT_IS(RESIDENCY, reload)
    if constexpr (Constant) {
        if (inside) {
            nt_read<Bytes, Constant, Again>(w, p);
        }
        return;
    }
#elif NT_L2_POLICIES && NT_IS(LOAD_HINT, evict_last)
    if (inside) {
        nt_read<Bytes, Constant, Again>(w, p);
    }
    return;
#endif
    const int q = inside ? 1 : 0;
    if constexpr (Again) {
        NT_READ_IF(".nc", NT_NO_CLOBBER)
    } else if constexpr (Constant) {
        NT_READ_IF(NT_LOAD_OP ".nc", NT_NO_CLOBBER)
    } else {
        NT_READ_IF(NT_LOAD_OP, : "memory")
    }
}

// Gamma, rstd: small tensors that all rows share or that are read once; they stay in the caches. Not the read-only path:
// the assembler would take loads of gamma out of the loop over rows, into registers that a long row does not have.
template <int Bytes>
NT_DEVICE void nt_read_cached(unsigned* w, const void* p) {
    if constexpr (Bytes == 16) {
        asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p));
    } else if constexpr (Bytes == 8) {
        asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(p));
    } else if constexpr (Bytes == 4) {
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(w[0]) : "l"(p));
    } else {
        unsigned short h;
        asm volatile("ld.global.u16 %0, [%1];" : "=h"(h) : "l"(p));
        w[0] = h;
    }
}

template <int Bytes>
NT_DEVICE void nt_write(void* p, const unsigned* w) {
#if NT_L2_POLICIES && NT_IS(STORE_HINT, evict_last)
    const unsigned long long policy = nt_evict_last();
    if constexpr (Bytes == 16) {
        asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1,%2,%3,%4}, %5;" ::"l"(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "l"(policy) : "memory");
    } else if constexpr (Bytes == 8) {
        asm volatile("st.global.L2::cache_hint.v2.u32 [%0], {%1,%2}, %3;" ::"l"(p), "r"(w[0]), "r"(w[1]), "l"(policy) : "memory");
    } else if constexpr (Bytes == 4) {
        asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(p), "r"(w[0]), "l"(policy) : "memory");
    } else {
        asm volatile("st.global.L2::cache_hint.u16 [%0], %1, %2;" ::"l"(p), "h"(static_cast<unsigned short>(w[0])), "l"(policy) : "memory");
    }
#else
    if constexpr (Bytes == 16) {
        asm volatile("st.global" NT_STORE_OP ".v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
    } else if constexpr (Bytes == 8) {
        asm volatile("st.global" NT_STORE_OP ".v2.u32 [%0], {%1,%2};" ::"l"(p), "r"(w[0]), "r"(w[1]) : "memory");
    } else if constexpr (Bytes == 4) {
        asm volatile("st.global" NT_STORE_OP ".u32 [%0], %1;" ::"l"(p), "r"(w[0]) : "memory");
    } else {
        asm volatile("st.global" NT_STORE_OP ".u16 [%0], %1;" ::"l"(p), "h"(static_cast<unsigned short>(w[0])) : "memory");
    }
#endif
}

// Global fp32 scratch that other programs of the launch write: read past this unit's own cache.
template <int Count>
NT_DEVICE void nt_read_coherent(float* v, const float* p) {
    if constexpr (Count == 4) {
        asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "l"(p) : "memory");
    } else {
        asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v[0]) : "l"(p) : "memory");
    }
}
// Words that one program writes and another looks for, each by itself: strong accesses, with no order between two of them.
template <int Count>
NT_DEVICE void nt_write_word(unsigned* p, const unsigned* w) {
    if constexpr (Count == 4) {
        asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
    } else {
        asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(w[0]) : "memory");
    }
}
template <int Count>
NT_DEVICE void nt_look_for_word(unsigned* w, const unsigned* p) {
    if constexpr (Count == 4) {
        asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p) : "memory");
    } else {
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(w[0]) : "l"(p) : "memory");
    }
}
NT_DEVICE void nt_add_relaxed(float* p, float v) { asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory"); }
#if __CUDA_ARCH__ >= 900
#define NT_ADD_RELAXED_4 1
NT_DEVICE void nt_add_relaxed_4(float* p, const float* v) {
    asm volatile("red.global.add.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(p), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]) : "memory");
}
#endif
NT_DEVICE unsigned nt_read_relaxed(const unsigned* p) {
    unsigned v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
NT_DEVICE void nt_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
// Counts up to `last`, then wraps to 0; returns the count before.
NT_DEVICE unsigned nt_count_wrapping(unsigned* p, unsigned last) {
    unsigned old;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(last) : "memory");
    return old;
}
NT_DEVICE unsigned nt_count_wrapping_relaxed(unsigned* p, unsigned last) {
    unsigned old;
    asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(last) : "memory");
    return old;
}
NT_DEVICE unsigned nt_fetch_add(unsigned* p, unsigned v) {
    unsigned old;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
    return old;
}
NT_DEVICE unsigned nt_read_acquire(const unsigned* p) {
    unsigned v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

#if __CUDA_ARCH__ >= 800 && NT_HAS_ASYNC_COPY
#define NT_ASYNC_COPY 1
NT_DEVICE unsigned nt_shared_address(const void* p) {
    unsigned address;
    asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(address) : "l"(p));
    return address;
}
// To `at` bytes behind `shared`, where dynamic shared memory begins. Zeros where it is not `inside`: of 0 bytes nothing is read.
// Not with a policy: of an address that it knows to be a uniform part and a thread's own, CUDA 13.0's assembler then makes an
// instruction that names a uniform register which nothing has set. There the whole address is converted, behind a branch.
#define NT_ASYNC_ZEROS (!NT_IS(LOAD_HINT, streaming) && !NT_IS(LOAD_HINT, evict_last))
template <int Bytes>
NT_DEVICE void nt_copy_async(char* shared, int at, const void* from, [[maybe_unused]] bool inside) {
#if NT_ASYNC_ZEROS
    const int read = inside ? Bytes : 0;
#if defined(__CUDACC_RTC__) || defined(__NVCC__)
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + static_cast<unsigned>(at);
#else
    const unsigned address = nt_shared_address(shared) + static_cast<unsigned>(at);
#endif
    if constexpr (Bytes == 16 && NT_IS(LOAD_HINT, cache_global)) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(read) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(Bytes), "r"(read) : "memory");
    }
#else
    const unsigned address = nt_shared_address(shared + at);
    const unsigned long long policy = NT_IS(LOAD_HINT, streaming) ? nt_evict_first() : nt_evict_last();
    if constexpr (Bytes == 16) {
        asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "l"(policy) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(Bytes), "l"(policy) : "memory");
    }
#endif
}
NT_DEVICE void nt_commit_async() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Pending>
NT_DEVICE void nt_wait_async() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}
#endif
#if !NT_IS(STAGING, async) || NT_IN_CLUSTERS
// A barrier of 8 bytes in shared memory: a phase ends once one thread has told how many bytes are to come and all of them have.
NT_DEVICE void nt_bulk_begin(unsigned long long* barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(nt_shared_address(barrier)) : "memory");
}
NT_DEVICE void nt_bulk_expect(unsigned long long* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(nt_shared_address(barrier)), "r"(bytes) : "memory");
}
NT_DEVICE void nt_bulk_wait(unsigned long long* barrier, unsigned parity) {
    unsigned done = 0u;
    while (done == 0u) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(nt_shared_address(barrier)), "r"(parity)
                     : "memory");
    }
}
#endif
#if !NT_IS(STAGING, async)
// Bulk copies: multiples of 16 bytes, at multiples of 16. A barrier counts the bytes of loads.
NT_DEVICE void nt_bulk_load(void* to, const void* from, int bytes, unsigned long long* barrier) {
    const unsigned address = nt_shared_address(to);
    const unsigned counted_by = nt_shared_address(barrier);
    if constexpr (NT_IS(LOAD_HINT, streaming) || NT_IS(LOAD_HINT, evict_last)) {
        const unsigned long long policy = NT_IS(LOAD_HINT, streaming) ? nt_evict_first() : nt_evict_last();
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(address), "l"(from),
                     "r"(bytes), "r"(counted_by), "l"(policy)
                     : "memory");
    } else {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address), "l"(from), "r"(bytes),
                     "r"(counted_by)
                     : "memory");
    }
}
NT_DEVICE void nt_bulk_store(void* to, const void* from, int bytes) {
    const unsigned address = nt_shared_address(from);
    if constexpr (NT_IS(STORE_HINT, streaming) || NT_IS(STORE_HINT, evict_last)) {
        const unsigned long long policy = NT_IS(STORE_HINT, streaming) ? nt_evict_first() : nt_evict_last();
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to), "r"(address), "r"(bytes), "l"(policy)
                     : "memory");
    } else {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(address), "r"(bytes) : "memory");
    }
}
NT_DEVICE void nt_bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Of the groups of stores that this thread has committed, all but the last `Pending` have been read from shared memory.
template <int Pending>
NT_DEVICE void nt_bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
// What this thread has written to shared memory so far is seen by bulk copies that are asked for later.
NT_DEVICE void nt_bulk_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif
#if __CUDA_ARCH__ >= 900
// A launch that may begin before the one ahead of it has ended waits here for that one's writes.
NT_DEVICE void nt_await_previous_launch() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
NT_DEVICE void nt_release_next_launch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else
NT_DEVICE void nt_await_previous_launch() {}
NT_DEVICE void nt_release_next_launch() {}
#endif

#endif
