// What nvidia.gpu.h and amd.gpu.h are to a GPU, for the host: keywords, and the functions of the machine that runs the
// kernels (machine.h). Included before the kernels' source, in a translation unit that includes nothing else: it
// compiles in a tenth of a second. Compiled with -fsanitize=thread, and without that sanitizer's library: the compiler
// then calls the functions at the end of this file at each access to memory.
#pragma once

#define NT_EMULATED 1
#define NT_CONSTANT inline
#define NT_DEVICE inline
#define NT_SHARED static __attribute__((section("nt_shared"), used))
#define NT_UNROLL
#define NT_NO_UNROLL
#define NT_KERNEL(threads, programs) extern "C" __attribute__((noinline)) void
#define EMULATION_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

extern "C" {

int nt_thread();
int nt_program_x();
int nt_program_y();
char* nt_emulated_shared();

void emulation_barrier(const char* file, int line);
void emulation_group_barrier(int group, int threads, const char* file, int line);
void emulation_cluster_arrive(const char* file, int line);
void emulation_cluster_wait(const char* file, int line);
void emulation_warp_barrier(const char* file, int line);
void nt_share_barriers();
void nt_send(float* to, unsigned long long* barrier, int rank, float v);
float emulation_shuffle_xor(float v, int mask, const char* file, int line);
float emulation_shuffle_from(float v, int from, int lanes, const char* file, int line);

void emulation_load(void* to, const void* from, int bytes);
void emulation_store(void* to, const void* from, int bytes);
void emulation_copy_async(void* to, const void* from, int bytes);
void nt_commit_async();
void emulation_wait_async(int pending);

void emulation_bulk_wait(unsigned long long* barrier, unsigned parity, const char* file, int line);
void emulation_bulk_wait_read(int pending);
void nt_bulk_begin(unsigned long long* barrier);
void nt_bulk_expect(unsigned long long* barrier, int bytes);
void nt_bulk_load(void* to, const void* from, int bytes, unsigned long long* barrier);
void nt_bulk_store(void* to, const void* from, int bytes);
void nt_bulk_commit();
void nt_bulk_fence();

void nt_fence();
void nt_add_relaxed(float* p, float v);
unsigned nt_count_wrapping_relaxed(unsigned* p, unsigned last);
unsigned nt_fetch_add(unsigned* p, unsigned v);
unsigned nt_count_wrapping(unsigned* p, unsigned last);
unsigned emulation_read_relaxed(const unsigned* p, const char* file, int line);
unsigned emulation_read_acquire(const unsigned* p, const char* file, int line);
void emulation_write_word(unsigned* p, const unsigned* w, int count);
void emulation_look_for_word(unsigned* w, const unsigned* p, int count, const char* file, int line);
void nt_await_previous_launch();
void nt_release_next_launch();

float nt_rsqrt(float v);
float nt_from_fp16(unsigned bits);
unsigned nt_pair_fp16(float low, float high);

// Any kind of access: 0 a read, 1 a write.
void emulation_access(const void* p, int bytes, int write);
extern char* emulation_stack;  // of the thread that runs
extern unsigned long emulation_stack_bytes;

// Calls that the compiler makes of copies and of initialisations.
void* memcpy(void* to, const void* from, unsigned long bytes) __asm__("emulation_memcpy");
void* memmove(void* to, const void* from, unsigned long bytes) __asm__("emulation_memmove");
void* memset(void* to, int value, unsigned long bytes) __asm__("emulation_memset");
}

inline void nt_barrier(EMULATION_HERE) {
    emulation_barrier(file, line);
}
inline void nt_group_barrier(int group, int threads, EMULATION_HERE) {
    emulation_group_barrier(group, threads, file, line);
}
inline void nt_cluster_arrive(EMULATION_HERE) {
    emulation_cluster_arrive(file, line);
}
inline void nt_cluster_wait(EMULATION_HERE) {
    emulation_cluster_wait(file, line);
}
inline void nt_warp_barrier(EMULATION_HERE) {
    emulation_warp_barrier(file, line);
}
inline float nt_shuffle_xor(float v, int mask, EMULATION_HERE) {
    return emulation_shuffle_xor(v, mask, file, line);
}
template <int Lanes>
float nt_shuffle_from(float v, int from, EMULATION_HERE) {
    return emulation_shuffle_from(v, from, Lanes, file, line);
}
inline void nt_bulk_wait(unsigned long long* barrier, unsigned parity, EMULATION_HERE) {
    emulation_bulk_wait(barrier, parity, file, line);
}
template <int Pending>
void nt_bulk_wait_read() {
    emulation_bulk_wait_read(Pending);
}
inline unsigned nt_read_acquire(const unsigned* p, EMULATION_HERE) {
    return emulation_read_acquire(p, file, line);
}

inline unsigned nt_read_relaxed(const unsigned* p, EMULATION_HERE) {
    return emulation_read_relaxed(p, file, line);
}

inline unsigned nt_float_bits(float v) {
    return __builtin_bit_cast(unsigned, v);
}
inline float nt_bits_float(unsigned v) {
    return __builtin_bit_cast(float, v);
}
inline void nt_forget(unsigned&) {}

template <int Bytes, bool Constant, bool Again = false>
void nt_read(unsigned* w, const void* p) {
    w[0] = 0;
    emulation_load(w, p, Bytes);
}
template <int Bytes>
void nt_read_cached(unsigned* w, const void* p) {
    nt_read<Bytes, true>(w, p);
}
template <int Bytes>
void nt_write(void* p, const unsigned* w) {
    emulation_store(p, w, Bytes);
}
template <int Count>
void nt_read_coherent(float* v, const float* p) {
    emulation_load(v, p, Count * 4);
}

template <int Count>
void nt_write_word(unsigned* p, const unsigned* w) {
    emulation_write_word(p, w, Count);
}
template <int Count>
void nt_look_for_word(unsigned* w, const unsigned* p, EMULATION_HERE) {
    emulation_look_for_word(w, p, Count, file, line);
}

#if NT_EMULATE_ASYNC_COPY
#define NT_ASYNC_COPY 1
#define NT_ASYNC_ZEROS (!NT_IS(LOAD_HINT, streaming) && !NT_IS(LOAD_HINT, evict_last))
template <int Bytes>
void nt_copy_async(char* shared, int at, const void* from, bool inside) {
    emulation_copy_async(shared + at, inside ? from : nullptr, Bytes);
}
template <int Pending>
void nt_wait_async() {
    emulation_wait_async(Pending);
}
#endif

/// Converts to the type of the kernel's parameter.
struct emulation_argument {
    const void* at;
    template <class T>
    __attribute__((no_sanitize("thread"))) operator T() const {
        return *static_cast<const T*>(at);
    }
};

/// The translation unit's NT_SHARED arrays.
extern "C" __attribute__((weak, visibility("hidden"))) char __start_nt_shared[];
extern "C" __attribute__((weak, visibility("hidden"))) char __stop_nt_shared[];
extern "C" __attribute__((no_sanitize("thread"))) void emulation_static_shared(char** begin, char** end) {
    *begin = __start_nt_shared;
    *end = __stop_nt_shared;
}

// The sanitizer's hooks. Most accesses are to a thread's own stack, which nobody shares.
#define EMULATION_HOOK(name, bytes, write)                                                                        \
    extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"))) void __tsan_##name(const void* p) {   \
        if (static_cast<unsigned long>(static_cast<const char*>(p) - emulation_stack) >= emulation_stack_bytes) { \
            emulation_access(p, bytes, write);                                                                    \
        }                                                                                                         \
    }
EMULATION_HOOK(read1, 1, 0)
EMULATION_HOOK(read2, 2, 0)
EMULATION_HOOK(read4, 4, 0)
EMULATION_HOOK(read8, 8, 0)
EMULATION_HOOK(read16, 16, 0)
EMULATION_HOOK(write1, 1, 1)
EMULATION_HOOK(write2, 2, 1)
EMULATION_HOOK(write4, 4, 1)
EMULATION_HOOK(write8, 8, 1)
EMULATION_HOOK(write16, 16, 1)
EMULATION_HOOK(unaligned_read2, 2, 0)
EMULATION_HOOK(unaligned_read4, 4, 0)
EMULATION_HOOK(unaligned_read8, 8, 0)
EMULATION_HOOK(unaligned_read16, 16, 0)
EMULATION_HOOK(unaligned_write2, 2, 1)
EMULATION_HOOK(unaligned_write4, 4, 1)
EMULATION_HOOK(unaligned_write8, 8, 1)
EMULATION_HOOK(unaligned_write16, 16, 1)
#undef EMULATION_HOOK
#define EMULATION_HOOK extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"))) void
EMULATION_HOOK __tsan_init() {}
EMULATION_HOOK __tsan_func_entry(void*) {}
EMULATION_HOOK __tsan_func_exit() {}
EMULATION_HOOK __tsan_read_range(const void* p, unsigned long bytes) {
    emulation_access(p, static_cast<int>(bytes), 0);
}
EMULATION_HOOK __tsan_write_range(const void* p, unsigned long bytes) {
    emulation_access(p, static_cast<int>(bytes), 1);
}
#undef EMULATION_HOOK
#define EMULATION_HOOK extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"))) void*
EMULATION_HOOK __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
    return memcpy(to, from, bytes);
}
EMULATION_HOOK __tsan_memset(void* to, int value, unsigned long bytes) {
    return memset(to, value, bytes);
}
#undef EMULATION_HOOK
