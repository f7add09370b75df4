// AMD, through the compiler's own builtins; warps of 32 or 64 lanes.
#if !defined(NT_EMULATED) && defined(__AMDGCN__)

#if NT_WAVES_PER_EU > 0
#define NT_WAVES __attribute__((amdgpu_waves_per_eu(NT_WAVES_PER_EU)))
#else
#define NT_WAVES
#endif
#define NT_KERNEL(threads, programs) extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(threads, threads))) NT_WAVES void

// The compiler of ROCm 5.2 puts several chains into scratch memory.
#define NT_SUM_CHAINS 1
NT_DEVICE int nt_thread() { return static_cast<int>(__builtin_amdgcn_workitem_id_x()); }
NT_DEVICE int nt_program_x() { return static_cast<int>(__builtin_amdgcn_workgroup_id_x()); }
NT_DEVICE int nt_program_y() { return static_cast<int>(__builtin_amdgcn_workgroup_id_y()); }
NT_DEVICE void nt_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
NT_DEVICE void nt_group_barrier(int, int) { nt_barrier(); }
#define NT_GROUP_BARRIERS 0
NT_DEVICE void nt_forget(unsigned& word) { asm volatile("" : "+v"(word)); }
NT_DEVICE unsigned nt_float_bits(float v) { return __builtin_bit_cast(unsigned, v); }
NT_DEVICE float nt_bits_float(unsigned v) { return __builtin_bit_cast(float, v); }
NT_DEVICE int nt_lane_of_warp() { return static_cast<int>(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))); }
NT_DEVICE float nt_shuffle(float v, int from) {
    return nt_bits_float(static_cast<unsigned>(__builtin_amdgcn_ds_bpermute(from << 2, static_cast<int>(nt_float_bits(v)))));
}
NT_DEVICE float nt_shuffle_xor(float v, int mask) { return nt_shuffle(v, nt_lane_of_warp() ^ mask); }
template <int Lanes>
NT_DEVICE float nt_shuffle_from(float v, int from) {
    return nt_shuffle(v, nt_lane_of_warp() / Lanes * Lanes + from);
}
NT_DEVICE float nt_rsqrt(float v) { return __builtin_amdgcn_rsqf(v); }
NT_DEVICE float nt_from_fp16(unsigned bits) { return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<unsigned short>(bits))); }
NT_DEVICE unsigned nt_pair_fp16(float low, float high) {
    const unsigned l = __builtin_bit_cast(unsigned short, static_cast<_Float16>(low));
    const unsigned h = __builtin_bit_cast(unsigned short, static_cast<_Float16>(high));
    return l | h << 16;
}
template <int Words>
struct nt_native {
    typedef unsigned type __attribute__((ext_vector_type(Words)));
};
template <>
struct nt_native<1> {
    typedef unsigned type;
};
template <int Bytes, bool Streaming>
NT_DEVICE void nt_read_native(unsigned* w, const void* p) {
    if constexpr (Bytes == 2) {
        const unsigned short* from = static_cast<const unsigned short*>(p);
        w[0] = Streaming ? __builtin_nontemporal_load(from) : *from;
    } else {
        using vector = typename nt_native<Bytes / 4>::type;
        const vector* from = static_cast<const vector*>(p);
        const vector v = Streaming ? __builtin_nontemporal_load(from) : *from;
        __builtin_memcpy(w, &v, Bytes);
    }
}
template <int Bytes, bool Constant, bool Again = false>
NT_DEVICE void nt_read(unsigned* w, const void* p) {
    nt_read_native<Bytes, NT_IS(LOAD_HINT, streaming) && !Again>(w, p);
}
template <int Bytes>
NT_DEVICE void nt_read_cached(unsigned* w, const void* p) {
    nt_read_native<Bytes, false>(w, p);
}
template <int Bytes>
NT_DEVICE void nt_write(void* p, const unsigned* w) {
    if constexpr (Bytes == 2) {
        unsigned short* to = static_cast<unsigned short*>(p);
        if constexpr (NT_IS(STORE_HINT, streaming)) {
            __builtin_nontemporal_store(static_cast<unsigned short>(w[0]), to);
        } else {
            *to = static_cast<unsigned short>(w[0]);
        }
    } else {
        typename nt_native<Bytes / 4>::type v;
        __builtin_memcpy(&v, w, Bytes);
        if constexpr (NT_IS(STORE_HINT, streaming)) {
            __builtin_nontemporal_store(v, static_cast<typename nt_native<Bytes / 4>::type*>(p));
        } else {
            *static_cast<typename nt_native<Bytes / 4>::type*>(p) = v;
        }
    }
}
template <int Count>
NT_DEVICE void nt_read_coherent(float* v, const float* p) {
    NT_UNROLL
    for (int i = 0; i < Count; ++i) {
        v[i] = __hip_atomic_load(p + i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}
template <int Count>
NT_DEVICE void nt_write_word(unsigned* p, const unsigned* w) {
    NT_UNROLL
    for (int i = 0; i < Count; ++i) {
        __hip_atomic_store(p + i, w[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}
template <int Count>
NT_DEVICE void nt_look_for_word(unsigned* w, const unsigned* p) {
    NT_UNROLL
    for (int i = 0; i < Count; ++i) {
        w[i] = __hip_atomic_load(p + i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}
NT_DEVICE void nt_add_relaxed(float* p, float v) { __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
NT_DEVICE unsigned nt_read_relaxed(const unsigned* p) { return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
NT_DEVICE void nt_fence() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent"); }
NT_DEVICE unsigned nt_fetch_add(unsigned* p, unsigned v) { return __hip_atomic_fetch_add(p, v, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT); }
NT_DEVICE unsigned nt_count_wrapping(unsigned* p, unsigned last) {
    const unsigned old = nt_fetch_add(p, 1u);
    if (old == last) {
        __hip_atomic_store(p, 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    }
    return old;
}
NT_DEVICE unsigned nt_count_wrapping_relaxed(unsigned* p, unsigned last) {
    const unsigned old = __hip_atomic_fetch_add(p, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    if (old == last) {
        __hip_atomic_store(p, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
    return old;
}
NT_DEVICE unsigned nt_read_acquire(const unsigned* p) { return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT); }
NT_DEVICE void nt_await_previous_launch() {}
NT_DEVICE void nt_release_next_launch() {}

#endif
