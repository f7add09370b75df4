// Kernels of the measuring itself: copies for the limit, a read that evicts the L2, an empty launch for the floor.
#pragma once

#include <string>

namespace normtune::gpu {

/// Free of vendor headers, so that every compiler of a toolchain takes it.
inline constexpr const char* utility_prologue = R"gpu(
#if defined(__AMDGCN__)
#define NT_DEVICE __attribute__((device)) inline
#define NT_KERNEL extern "C" __attribute__((global)) void
typedef unsigned nt_4 __attribute__((ext_vector_type(1)));
typedef unsigned nt_8 __attribute__((ext_vector_type(2)));
typedef unsigned nt_16 __attribute__((ext_vector_type(4)));
NT_DEVICE int nt_thread() { return (int)__builtin_amdgcn_workitem_id_x(); }
NT_DEVICE int nt_program() { return (int)__builtin_amdgcn_workgroup_id_x(); }
NT_DEVICE int nt_threads() { return (int)__builtin_amdgcn_workgroup_size_x(); }
NT_DEVICE long long nt_all_threads() { return (long long)__builtin_amdgcn_grid_size_x(); }
#else
#define NT_DEVICE __device__ inline
#define NT_KERNEL extern "C" __global__ void
typedef uint1 nt_4;
typedef uint2 nt_8;
typedef uint4 nt_16;
NT_DEVICE int nt_thread() { return threadIdx.x; }
NT_DEVICE int nt_program() { return blockIdx.x; }
NT_DEVICE int nt_threads() { return blockDim.x; }
NT_DEVICE long long nt_all_threads() { return (long long)gridDim.x * blockDim.x; }
#endif
/// At the begin of a kernel that is launched before the one ahead has ended: as nt_follow_previous_launch of the op's kernels.
NT_DEVICE void nt_follow() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define NT_L2_POLICIES 1
NT_DEVICE unsigned long long nt_evict_last_policy() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
NT_DEVICE nt_16 nt_load_to_evict_last(const nt_16* p) {
    const unsigned long long policy = nt_evict_last_policy();
    nt_16 v;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p), "l"(policy));
    return v;
}
#else
#define NT_L2_POLICIES 0
#endif
NT_DEVICE unsigned nt_any(nt_4 v) { return v.x; }
NT_DEVICE unsigned nt_any(nt_8 v) { return v.x | v.y; }
NT_DEVICE unsigned nt_any(nt_16 v) { return v.x | v.y | v.z | v.w; }
)gpu";

/// nt_evict: reads all of `vectors` and writes nothing unless the sum hits a value that it never has. Its lines are to be evicted last,
/// where accesses can say so: others would not displace lines that a kernel has left so.
///
/// nt_demote: these lines are as all others again. `vectors`: as of nt_evict, from 128 byte boundaries on.
///
/// nt_gate: ends once *flag is `ticket`.
///
/// nt_settle: launched twice ahead of each timed piece of work, the second time to begin while the first runs.
inline constexpr const char* utility_kernels = R"gpu(
NT_KERNEL nt_gate(const volatile unsigned* flag, unsigned ticket) {
    while (*flag != ticket) {}
}
NT_KERNEL nt_evict(const nt_16* from, unsigned* never, long long vectors) {
    unsigned seen = 0;
    for (long long at = (long long)nt_program() * nt_threads() + nt_thread(); at < vectors; at += nt_all_threads()) {
#if NT_L2_POLICIES
        seen |= nt_any(nt_load_to_evict_last(from + at));
#else
        seen |= nt_any(from[at]);
#endif
    }
    if (seen != 0) *never = seen;  // the region is all zeros
}
#if NT_L2_POLICIES
NT_KERNEL nt_demote(const nt_16* from, long long vectors) {
    for (long long at = 8 * ((long long)nt_program() * nt_threads() + nt_thread()); at < vectors; at += 8 * nt_all_threads()) {
        asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(from + at) : "memory");
    }
}
#endif
NT_KERNEL nt_settle() {}
NT_KERNEL nt_empty() {}
NT_KERNEL nt_empty_dependent() { nt_follow(); }
)gpu";

/// nt_copy_W_U_HINT: reads NT_READS streams of `vectors` vectors of W bytes and writes NT_WRITES of them, U vectors of each
/// stream in flight a thread; programs take pieces of U vectors a thread in turn until none is left. What is written is what
/// the stream of that number held, so a copy over its own input changes nothing.
/// nt_copy_W_U_HINT_whole, and …_whole of those below: one program a piece, and nothing is left over from whole pieces, so that no program
/// waits for an argument that tells, before it reads.
///
/// nt_copy_W_U_together, …_together_default, …_together_evict_last: with hints for streaming, none, or as named, a program writes when all
/// of its threads have read, as a kernel does that sums its row up in between. One program a piece.
///
/// nt_copy_W_U_late, …_late_default, …_late_evict_last: likewise, about as long after that as such a sum takes (some hundred cycles).
///
///
/// nt_copy_staged_U_HINT, where there are asynchronous copies: as nt_copy_16_U_HINT, by way of shared memory (dynamic, of NT_STAGES ·
/// NT_READS · U vectors a thread), a thread's next NT_STAGES - 1 pieces in flight while one is written.
inline constexpr const char* copy_kernels = R"gpu(
enum nt_hint { nt_default, nt_streaming, nt_streaming_stores, nt_cache_global, nt_evict_last, nt_evict_last_streaming_stores };
#if defined(__AMDGCN__)
template <nt_hint hint, typename V>
NT_DEVICE V nt_load(const V* p) {
    return hint == nt_streaming ? __builtin_nontemporal_load(p) : *p;
}
template <nt_hint hint, typename V>
NT_DEVICE void nt_store(V* p, V v) {
    if (hint == nt_streaming || hint == nt_streaming_stores) __builtin_nontemporal_store(v, p);
    else *p = v;
}
NT_DEVICE void nt_wait_for_all(unsigned loaded) {
    asm volatile("" ::"v"(loaded));
    __builtin_amdgcn_s_barrier();
}
#else
template <nt_hint hint, typename V>
NT_DEVICE V nt_load(const V* p) {
    if constexpr (sizeof(V) < 8) return *p;
#if NT_L2_POLICIES
    else if constexpr (hint >= nt_evict_last) return nt_load_to_evict_last(p);
#endif
    else return hint == nt_streaming ? __ldcs(p) : hint == nt_cache_global ? __ldcg(p) : __ldg(p);
}
template <nt_hint hint, typename V>
NT_DEVICE void nt_store(V* p, V v) {
    if constexpr (sizeof(V) < 8 || hint == nt_default || hint == nt_cache_global || hint == nt_evict_last) *p = v;
    else __stcs(p, v);
}
NT_DEVICE void nt_wait_for_all(unsigned loaded) { __syncthreads_or(loaded == 0x9e3779b9u); }
#endif
struct nt_streams {
    const void* in[3];
    void* out[2];
    long long vectors;
};
template <typename V, int unroll, nt_hint hint>
NT_DEVICE void nt_put(const nt_streams& s, long long at, V (&held)[NT_READS][unroll], int i) {
    unsigned read_alone = 0;
#pragma unroll
    for (int r = NT_WRITES; r < NT_READS; ++r) read_alone |= nt_any(held[r][i]);
    if (NT_READS > NT_WRITES && read_alone == 0x9e3779b9u) held[0][i] = held[NT_READS - 1][i];  // or it were not read
#pragma unroll
    for (int w = 0; w < NT_WRITES; ++w) nt_store<hint>((V*)s.out[w] + at, held[w < NT_READS ? w : 0][i]);
}
template <typename V, int unroll, nt_hint hint>
NT_DEVICE void nt_copy(const nt_streams& s) {
    const long long piece = (long long)nt_threads() * unroll;
    const long long step = nt_all_threads() * unroll;
    for (long long begin = nt_program() * piece; begin < s.vectors; begin += step) {
        V held[NT_READS][unroll];
#pragma unroll
        for (int r = 0; r < NT_READS; ++r) {
#pragma unroll
            for (int i = 0; i < unroll; ++i) {
                const long long at = begin + (long long)i * nt_threads() + nt_thread();
                if (at < s.vectors) held[r][i] = nt_load<hint>((const V*)s.in[r] + at);
            }
        }
#pragma unroll
        for (int i = 0; i < unroll; ++i) {
            const long long at = begin + (long long)i * nt_threads() + nt_thread();
            if (at < s.vectors) nt_put<V, unroll, hint>(s, at, held, i);
        }
    }
}
/// No loop and, but in the last program, no checks: what they take is seen at a few microseconds. `whole`: nor there. `waits`: of a program's
/// threads for each other, between reading and writing.
template <typename V, int unroll, nt_hint hint, int waits, bool whole>
NT_DEVICE void nt_copy_together(const nt_streams& s) {
    const long long begin = (long long)nt_program() * (nt_threads() * unroll);
    if (!whole && begin + nt_threads() * unroll > s.vectors) return nt_copy<V, unroll, hint>(s);
    const long long first = begin + nt_thread();
    V held[NT_READS][unroll];
    unsigned loaded = 0;
#pragma unroll
    for (int r = 0; r < NT_READS; ++r) {
#pragma unroll
        for (int i = 0; i < unroll; ++i) held[r][i] = nt_load<hint>((const V*)s.in[r] + first + i * nt_threads());
    }
#pragma unroll
    for (int r = 0; r < NT_READS; ++r) {
#pragma unroll
        for (int i = 0; i < unroll; ++i) loaded |= nt_any(held[r][i]);
    }
#pragma unroll
    for (int wait = 0; wait < waits; ++wait) nt_wait_for_all(loaded);
#pragma unroll
    for (int i = 0; i < unroll; ++i) nt_put<V, unroll, hint>(s, first + i * nt_threads(), held, i);
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
template <int unroll, nt_hint hint>
NT_DEVICE void nt_fetch(const nt_streams& s, long long begin, nt_16* stage) {
#pragma unroll
    for (int r = 0; r < NT_READS; ++r) {
#pragma unroll
        for (int i = 0; i < unroll; ++i) {
            const long long at = begin + (long long)i * nt_threads() + nt_thread();
            const unsigned to = (unsigned)__cvta_generic_to_shared(stage + (r * unroll + i) * nt_threads() + nt_thread());
            const nt_16* const from = (const nt_16*)s.in[r] + at;
            if constexpr (hint >= nt_evict_last) {
                const unsigned long long policy = nt_evict_last_policy();
                if (at < s.vectors) asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "l"(policy) : "memory");
            } else if (at < s.vectors) {
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
            }
        }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");  // an empty one too: the wait counts them
}
template <int unroll, nt_hint hint>
NT_DEVICE void nt_copy_staged(const nt_streams& s) {
    extern __shared__ nt_16 nt_stages[];
    const long long piece = (long long)nt_threads() * unroll;
    const long long step = nt_all_threads() * unroll;
    const int stage_vectors = NT_READS * unroll * nt_threads();
    long long begin = nt_program() * piece;
#pragma unroll
    for (int ahead = 0; ahead < NT_STAGES - 1; ++ahead) nt_fetch<unroll, hint>(s, begin + ahead * step, nt_stages + ahead * stage_vectors);
    for (int stage = 0; begin < s.vectors; begin += step, stage = (stage + 1) % NT_STAGES) {
        nt_fetch<unroll, hint>(s, begin + (NT_STAGES - 1) * step, nt_stages + (stage + NT_STAGES - 1) % NT_STAGES * stage_vectors);
        asm volatile("cp.async.wait_group %0;" ::"n"(NT_STAGES - 1) : "memory");
        const nt_16* held = nt_stages + stage * stage_vectors + nt_thread();  // a thread reads what itself has fetched: no barrier
#pragma unroll
        for (int i = 0; i < unroll; ++i) {
            const long long at = begin + (long long)i * nt_threads() + nt_thread();
            if (at < s.vectors) {
#pragma unroll
                for (int w = 0; w < NT_WRITES; ++w) nt_store<hint>((nt_16*)s.out[w] + at, held[((w < NT_READS ? w : 0) * unroll + i) * nt_threads()]);
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
}
#if NT_PART == 2
#define NT_COPY_STAGED(unroll, hint) \
    NT_KERNEL nt_copy_staged_##unroll##_##hint(nt_streams s) { NT_BEGIN nt_copy_staged<unroll, nt_##hint>(s); }
NT_COPY_STAGED(2, default)
NT_COPY_STAGED(4, default)
NT_COPY_STAGED(8, default)
NT_COPY_STAGED(2, streaming)
NT_COPY_STAGED(4, streaming)
NT_COPY_STAGED(8, streaming)
NT_COPY_STAGED(2, evict_last_streaming_stores)
NT_COPY_STAGED(4, evict_last_streaming_stores)
NT_COPY_STAGED(8, evict_last_streaming_stores)
#endif
#endif
#define NT_COPY(width, unroll, hint) \
    NT_KERNEL nt_copy_##width##_##unroll##_##hint(nt_streams s) { NT_BEGIN nt_copy<nt_##width, unroll, nt_##hint>(s); } \
    NT_KERNEL nt_copy_##width##_##unroll##_##hint##_whole(nt_streams s) { NT_BEGIN nt_copy_together<nt_##width, unroll, nt_##hint, 0, true>(s); }
#define NT_COPIES(hint) NT_COPY(16, 1, hint) NT_COPY(16, 2, hint) NT_COPY(16, 4, hint) NT_COPY(16, 8, hint)
#if NT_PART == 0
NT_COPIES(default)
NT_COPIES(streaming)
NT_COPIES(streaming_stores)
NT_COPIES(cache_global)
#if !defined(__AMDGCN__)  // before sm_80 they are not tried
NT_COPIES(evict_last)
NT_COPIES(evict_last_streaming_stores)
#endif
#elif NT_PART == 1 || NT_PART == 3
#define NT_COPY_TOGETHER(unroll, name, hint, waits) \
    NT_KERNEL nt_copy_16_##unroll##_##name(nt_streams s) { NT_BEGIN nt_copy_together<nt_16, unroll, nt_##hint, waits, false>(s); } \
    NT_KERNEL nt_copy_16_##unroll##_##name##_whole(nt_streams s) { NT_BEGIN nt_copy_together<nt_16, unroll, nt_##hint, waits, true>(s); }
#define NT_COPIES_TOGETHER(name, hint, waits) \
    NT_COPY_TOGETHER(1, name, hint, waits) NT_COPY_TOGETHER(2, name, hint, waits) NT_COPY_TOGETHER(3, name, hint, waits) NT_COPY_TOGETHER(4, name, hint, waits)
#if NT_PART == 3
NT_COPIES_TOGETHER(late, streaming, 8)
NT_COPIES_TOGETHER(late_default, default, 8)
#if !defined(__AMDGCN__)
NT_COPIES_TOGETHER(late_evict_last, evict_last, 8)
#endif
#else
NT_COPIES_TOGETHER(together, streaming, 1)
NT_COPIES_TOGETHER(together_default, default, 1)
#if !defined(__AMDGCN__)
NT_COPIES_TOGETHER(together_evict_last, evict_last, 1)
#endif
NT_COPY(4, 1, default)
NT_COPY(4, 4, default)
NT_COPY(8, 1, default)
NT_COPY(8, 4, default)
#endif
#endif
)gpu";

inline constexpr int copy_stages = 3;

/// The copies' kernels are compiled in parts, side by side.
enum class CopyPart { plain, together_or_narrow, staged, late };

inline std::string utility_source() {
    return std::string(utility_prologue) + utility_kernels;
}

inline std::string copy_source(std::size_t reads, std::size_t writes, bool dependent, CopyPart part) {
    return "#define NT_PART " + std::to_string(static_cast<int>(part)) + "\n#define NT_READS " + std::to_string(reads) +
           "\n#define NT_WRITES " + std::to_string(writes) + "\n#define NT_STAGES " + std::to_string(copy_stages) + "\n#define NT_BEGIN " +
           (dependent ? "nt_follow();" : "") + utility_prologue + copy_kernels;
}

}  // namespace normtune::gpu
