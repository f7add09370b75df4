// What kernel_prelude.h declares: the running machine's functions by plain names, and arithmetic.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/gpu/emulation/machine.h"

using normtune::emulation::AccessKind;
using normtune::emulation::Machine;

namespace {

Machine& machine() {
    return Machine::running();
}

void access(const void* p, std::size_t bytes, AccessKind kind) {
    machine().access(p, bytes, kind);
}

unsigned one_fp16(float v) {
    unsigned bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    const unsigned sign = (bits >> 16) & 0x8000u;
    const float a = std::fabs(v);
    if (!(a < 65520.0f)) {
        return sign | (std::isnan(v) ? 0x7e00u : 0x7c00u);
    }
    const int exponent = std::max(a > 0.0f ? std::ilogb(a) : -14, -14);
    const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(a, 10 - exponent)));  // ties to even
    return sign | (static_cast<unsigned>(exponent + 14) * 1024u + steps);
}

}  // namespace

extern "C" {

int nt_thread() {
    return machine().thread();
}
int nt_program_x() {
    return machine().program_x();
}
int nt_program_y() {
    return machine().program_y();
}
char* nt_emulated_shared() {
    return reinterpret_cast<char*>(machine().dynamic_shared());
}

void emulation_barrier(const char* file, int line) {
    machine().program_barrier({file, line});
}
void emulation_group_barrier(int group, int threads, const char* file, int line) {
    machine().group_barrier(group, threads, {file, line});
}
void emulation_cluster_arrive(const char* file, int line) {
    machine().cluster_arrive({file, line});
}
void emulation_cluster_wait(const char* file, int line) {
    machine().cluster_wait({file, line});
}
void emulation_warp_barrier(const char* file, int line) {
    machine().warp_barrier({file, line});
}
void nt_share_barriers() {
    machine().share_barriers();
}
void nt_send(float* to, unsigned long long* barrier, int rank, float v) {
    machine().send(to, barrier, rank, v);
}
float emulation_shuffle_xor(float v, int mask, const char* file, int line) {
    return machine().shuffle_xor(v, mask, {file, line});
}
float emulation_shuffle_from(float v, int from, int lanes, const char* file, int line) {
    return machine().shuffle_from(v, from, lanes, {file, line});
}

void emulation_access(const void* p, int bytes, int write) {
    access(p, static_cast<std::size_t>(bytes), write != 0 ? AccessKind::write : AccessKind::read);
}
void emulation_load(void* to, const void* from, int bytes) {
    machine().vector_access(from, static_cast<std::size_t>(bytes), AccessKind::read);
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}
void emulation_store(void* to, const void* from, int bytes) {
    machine().vector_access(to, static_cast<std::size_t>(bytes), AccessKind::write);
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}
void* emulation_memcpy(void* to, const void* from, unsigned long bytes) {
    access(from, bytes, AccessKind::read);
    access(to, bytes, AccessKind::write);
    return std::memcpy(to, from, bytes);
}
void* emulation_memmove(void* to, const void* from, unsigned long bytes) {
    access(from, bytes, AccessKind::read);
    access(to, bytes, AccessKind::write);
    return std::memmove(to, from, bytes);
}
void* emulation_memset(void* to, int value, unsigned long bytes) {
    access(to, bytes, AccessKind::write);
    return std::memset(to, value, bytes);
}

void emulation_copy_async(void* to, const void* from, int bytes) {
    machine().copy_async(to, from, static_cast<std::size_t>(bytes));
}
void nt_commit_async() {
    machine().commit_async();
}
void emulation_wait_async(int pending) {
    machine().wait_async(static_cast<std::size_t>(pending));
}

void nt_bulk_begin(unsigned long long* barrier) {
    machine().begin_bulk_barrier(barrier);
}
void nt_bulk_expect(unsigned long long* barrier, int bytes) {
    machine().expect_bulk(barrier, static_cast<std::size_t>(bytes));
}
void emulation_bulk_wait(unsigned long long* barrier, unsigned parity, const char* file, int line) {
    machine().wait_bulk(barrier, parity, {file, line});
}
void nt_bulk_load(void* to, const void* from, int bytes, unsigned long long* barrier) {
    machine().load_bulk(to, from, static_cast<std::size_t>(bytes), barrier);
}
void nt_bulk_store(void* to, const void* from, int bytes) {
    machine().store_bulk(to, from, static_cast<std::size_t>(bytes));
}
void nt_bulk_commit() {
    machine().commit_bulk();
}
void emulation_bulk_wait_read(int pending) {
    machine().wait_bulk_read(static_cast<std::size_t>(pending));
}
void nt_bulk_fence() {
    machine().fence_bulk();
}

// All threads see one order of all accesses: fences have nothing to add. Order counts releases and acquires alone.
void nt_fence() {}
void nt_add_relaxed(float* p, float v) {
    machine().vector_access(p, sizeof *p, AccessKind::atomic);
    *p += v;
}
// Nothing orders it with what the thread did before: others may see that first, and go far.
unsigned nt_count_wrapping_relaxed(unsigned* p, unsigned last) {
    machine().come_late();
    machine().vector_access(p, sizeof *p, AccessKind::atomic);
    machine().make_progress();
    const unsigned old = *p;
    *p = old >= last ? 0u : old + 1u;
    return old;
}
unsigned nt_fetch_add(unsigned* p, unsigned v) {
    machine().vector_access(p, sizeof *p, AccessKind::atomic);
    machine().acquire(p);
    machine().release(p);
    const unsigned old = *p;
    *p += v;
    return old;
}
unsigned nt_count_wrapping(unsigned* p, unsigned last) {
    const unsigned old = nt_fetch_add(p, 1);
    *p = old >= last ? 0u : old + 1u;
    return old;
}
unsigned emulation_read_relaxed(const unsigned* p, const char* file, int line) {
    machine().spin({file, line});
    machine().vector_access(p, sizeof *p, AccessKind::atomic);
    return *p;
}
unsigned emulation_read_acquire(const unsigned* p, const char* file, int line) {
    machine().spin({file, line});
    machine().vector_access(p, sizeof *p, AccessKind::atomic);
    machine().acquire(p);
    return *p;
}
// Each word is an atomic of its own. A thread that finds none lets others go on before it looks again.
void emulation_write_word(unsigned* p, const unsigned* w, int count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof *p;
    machine().vector_access(p, bytes, AccessKind::atomic);
    std::memcpy(p, w, bytes);
    machine().make_progress();
}
void emulation_look_for_word(unsigned* w, const unsigned* p, int count, const char* file, int line) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof *p;
    machine().vector_access(p, bytes, AccessKind::atomic);
    std::memcpy(w, p, bytes);
    if (std::find(w, w + count, 0u) != w + count) {
        machine().spin({file, line});
    }
}
void nt_await_previous_launch() {
    machine().await_previous_launch();
}
void nt_release_next_launch() {}

float nt_rsqrt(float v) {
    return 1.0f / std::sqrt(v);
}
float nt_from_fp16(unsigned bits) {
    const unsigned fraction = bits & 0x3ffu;
    const auto exponent = static_cast<int>((bits >> 10) & 31u);
    float magnitude =
        exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24) : std::ldexp(static_cast<float>(fraction | 0x400u), exponent - 25);
    if (exponent == 31) {
        magnitude = fraction != 0 ? NAN : INFINITY;
    }
    return (bits & 0x8000u) != 0u ? -magnitude : magnitude;
}
unsigned nt_pair_fp16(float low, float high) {
    return one_fp16(low) | one_fp16(high) << 16;
}

}  // extern "C"
