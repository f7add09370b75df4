// The emulation itself: kernels that are wrong on purpose are told, and what is right about them passes.
#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/gpu/emulation/compiled_kernels.h"
#include "kernels/gpu/emulation/machine.h"

namespace normtune {
namespace {

using emulation::CompiledKernels;
using emulation::LaunchRequest;
using emulation::Machine;

constexpr int threads = 128;  // of a program: two warps or four

/// `in` has two rows of `threads` floats with a gap after each, `out` and `counter` (of zeros) are contiguous.
class Probe {
public:
    explicit Probe(int warp_size) : warp_size_(warp_size) {}

    /// What is wrong with a kernel of this body, launched `launches` times.
    std::string run(const std::string& body, int programs, bool cooperative, int launches, int cluster = 1) {
        const std::string source = "NT_KERNEL(" + std::to_string(threads) +
                                   ", 1)\nprobe(const float* in, float* out, unsigned* counter) {\n"
                                   "    const int t = nt_thread();\n"
                                   "    float* s = reinterpret_cast<float*>(nt_emulated_shared());\n" +
                                   body + "\n}\n";
        const auto code = CompiledKernels::compile(source, {true, 15}, {{"probe", 3}});
        Machine machine({{"in", bytes(in_.data()), 2, row_bytes, row_bytes + gap_bytes, false},
                         {"out", bytes(out_.data()), 1, out_bytes, out_bytes, true},
                         {"counter", bytes(counter_.data()), 1, 16, 16, true}});
        void* pointers[] = {in_.data(), out_.data(), counter_.data()};
        void* arguments[] = {&pointers[0], &pointers[1], &pointers[2]};
        LaunchRequest request;
        request.kernel = code->entry("probe");
        request.arguments = arguments;
        request.grid_x = programs;
        request.cluster = cluster;
        request.threads = threads;
        request.warp_size = warp_size_;
        request.shared_bytes = 2 * threads * 4 + 16;
        request.static_shared = code->static_shared();
        request.static_shared_bytes = code->static_shared_bytes();
        request.cooperative = cooperative;
        std::string wrong;
        for (int i = 0; i < launches && wrong.empty(); ++i) {
            wrong = machine.launch(request);
            request.overlaps = true;
        }
        return wrong;
    }

private:
    template <class T>
    static std::byte* bytes(T* p) {
        return reinterpret_cast<std::byte*>(p);
    }
    static constexpr int row_bytes = threads * 4;
    static constexpr int gap_bytes = 64;
    static constexpr int out_bytes = 2 * threads * 4;
    int warp_size_;
    alignas(16) std::array<float, 2 * (threads + 16)> in_{};
    alignas(16) std::array<float, 2 * threads> out_{};
    alignas(16) std::array<unsigned, 4> counter_{};
};

#define BULK                                                                    \
    "unsigned long long* b = reinterpret_cast<unsigned long long*>(s + 256);\n" \
    "if (t == 0) { nt_bulk_begin(b); nt_bulk_fence(); } nt_barrier();\n"

#define SHARED                                                                  \
    "unsigned long long* b = reinterpret_cast<unsigned long long*>(s + 256);\n" \
    "if (t == 0) { nt_bulk_begin(b); nt_bulk_begin(b + 1); nt_share_barriers(); } nt_cluster_arrive(); nt_cluster_wait();\n"

struct Pair {
    const char* name;
    const char* wrong;
    const char* told;  // part of what is said of it
    const char* right;
    int programs = 1;
    bool cooperative = false;
    int launches = 1;
    int cluster = 1;
};

constexpr Pair pairs[] = {
    {"MissingBarrierAfterWrite", "s[t] = 0; nt_barrier(); if (t == 127) s[0] = 1; out[t] = s[0];",
     "thread 0 of program 0 reads 4 bytes that thread 127 of program 0 wrote",
     "s[t] = 0; nt_barrier(); if (t == 127) s[0] = 1; nt_barrier(); out[t] = s[0];"},
    {"MissingBarrierBeforeWrite", "s[t] = 0; nt_barrier(); if (t == 127) out[t] = s[0]; if (t == 0) s[0] = 1;",
     "thread 0 of program 0 writes 4 bytes that thread 127 of program 0 read",
     "s[t] = 0; nt_barrier(); if (t == 127) out[t] = s[0]; nt_barrier(); if (t == 0) s[0] = 1;"},
    {"MissingBarrierInStaticShared", "NT_SHARED float f[1]; if (t == 127) f[0] = 1; if (t == 126) f[0] = 2;",
     "thread 127 of program 0 writes 4 bytes that thread 126 of program 0 wrote",
     "NT_SHARED float f[1]; if (t == 127) f[0] = 1; nt_barrier(); if (t == 126) f[0] = 2;"},
    {"ShuffleOrdersNoMemory", "s[t] = 0; nt_barrier(); s[t] = 1; out[t] = nt_shuffle_xor(1, 1) + s[t ^ 1];",
     "wrote, with nothing that orders the two",
     "s[t] = 0; nt_barrier(); s[t] = 1; nt_barrier(); out[t] = nt_shuffle_xor(1, 1) + s[t ^ 1];"},
    {"UnwrittenShared", "out[t] = s[t];", "that nobody has written", "s[t] = 1; out[t] = s[t];"},
    {"BarrierUnderBranch", "if (t < 96) {\n nt_barrier();\n }", "96 threads at the barrier of", "nt_barrier();"},
    {"ExitBeforeBarrier", "if (t == 5) return;\n nt_barrier();", "1 thread ended (thread 5)", "nt_barrier();\n if (t == 5) return;"},
    {"TwoBarriers", "if (t < 64) {\n nt_barrier();\n } else {\n nt_barrier();\n }", "comes to the barrier of",
     "nt_barrier();\n if (t < 64) {\n out[t] = 1; }"},
    {"BarrierAgainstShuffle", "if (t == 3) {\n nt_barrier();\n } else {\n nt_shuffle_xor(1, 1);\n }", "at the shuffle of",
     "nt_barrier();\n nt_shuffle_xor(1, 1);"},
    {"ShuffleUnderBranch", "if (t % 32 < 16) {\n nt_shuffle_xor(1, 1);\n }", "at the shuffle of",
     "float v = nt_shuffle_xor(1, 1); if (t % 32 < 16) out[t] = v;"},
    {"TwoShuffles", "if (t % 32 < 16) {\n nt_shuffle_xor(1, 1);\n } else {\n nt_shuffle_xor(1, 1);\n }", "comes to the shuffle of",
     "nt_shuffle_xor(1, 1);"},
    {"ShuffleMasks", "nt_shuffle_xor(1, t == 9 ? 2 : 1);", "with 2 where thread", "nt_shuffle_xor(1, 2);"},
    {"ShuffleFromSeveral", "nt_shuffle_from<32>(1, t == 9 ? 2 : 1);", "with 2 where thread", "nt_shuffle_from<32>(1, 2);"},
    {"ShuffleFromBeyondWarp", "nt_shuffle_from<32>(1, 32);", "beyond its warp", "nt_shuffle_from<8>(1, 7);"},
    {"ShuffleBeyondWarp", "nt_shuffle_xor(1, 64);", "beyond its warp", "nt_shuffle_xor(1, 16);"},
    {"AsyncCopyNotWaitedFor",
     "nt_copy_async<4>(nt_emulated_shared(), 4 * t, in + t, true); nt_commit_async(); nt_commit_async(); nt_wait_async<2>(); out[t] = "
     "s[t];",
     "copies to asynchronously, and has not waited for it",
     "nt_copy_async<4>(nt_emulated_shared(), 4 * t, in + t, true); nt_commit_async(); nt_commit_async(); nt_wait_async<1>(); out[t] = "
     "s[t];"},
    {"AsyncCopyOverwrites",
     "s[t] = 0; nt_barrier(); if (t == 127) out[t] = s[0]; if (t == 0) nt_copy_async<4>(nt_emulated_shared(), 0, in, true);",
     "copies asynchronously to 4 bytes that thread 127 of program 0 read",
     "s[t] = 0; nt_barrier(); if (t == 127) out[t] = s[0]; nt_barrier(); if (t == 0) nt_copy_async<4>(nt_emulated_shared(), 0, in, true);"},
    {"AsyncCopyOfAnother",
     "nt_copy_async<4>(nt_emulated_shared(), 4 * t, in + t, true); nt_commit_async(); nt_wait_async<0>(); if (t > 0) out[t] = s[t - 1];",
     "thread 1 of program 0 reads 4 bytes that thread 0 of program 0 wrote",
     "nt_copy_async<4>(nt_emulated_shared(), 4 * t, in + t, true); nt_commit_async(); nt_wait_async<0>(); nt_barrier(); if (t > 0) out[t] "
     "= s[t - "
     "1];"},
    {"AsyncCopyBeyondTensor", "nt_copy_async<4>(nt_emulated_shared(), 4 * t, in + t + 160 + 1, true);",
     "reads 4 bytes outside of its memory",
     "nt_copy_async<4>(nt_emulated_shared(), 4 * t, in + t + 160 + 1, false); nt_commit_async(); nt_wait_async<0>(); out[t] = s[t];"},
    {"ReadBeyondRow", "out[t] = in[t + 1];", "beyond the row's end, at in, row 0, byte 512", "out[t] = in[t];"},
    {"ReadBeyondTensor", "out[t] = in[t + 160 + 1];", "reads 4 bytes outside of its memory", "out[t] = in[t + 144];"},
    {"UnusedReadBeyondTensor", "unsigned w[4]; nt_read<16, true>(w, in + 272);", "outside of its memory",
     "unsigned w[4]; nt_read<16, true>(w, in + 144);"},
    {"SharedBeyondEnd", "s[256 + t] = 1;", "writes 4 bytes outside of its memory", "s[128 + t] = 1;"},
    {"CopyBeyondTensor",
     "struct row { float v[96]; }; if (t == 0) *reinterpret_cast<row*>(out) = *reinterpret_cast<const row*>(in + 144 + "
     "64);",
     "reads 384 bytes outside of its memory",
     "struct row { float v[96]; }; if (t == 0) *reinterpret_cast<row*>(out) = *reinterpret_cast<const row*>(in + "
     "144);"},
    {"WriteToInput", "const_cast<float*>(in)[t] = 1;", "writes to an input", "out[t] = 1;"},
    {"Misaligned", "unsigned w[2]; nt_read<8, true>(w, in + 1);", "do not lie at a multiple",
     "unsigned w[2]; nt_read<8, true>(w, in + 2);"},
    {"TwoProgramsWriteTheSame", "out[t] = 1;", "thread 0 of program 1 writes 4 bytes that thread 0 of program 0 wrote",
     "out[t + 128 * nt_program_x()] = 1;", 2},
    {"AtomicsAndAPlainRead", "nt_add_relaxed(out, 1); nt_barrier(); if (t == 0 && nt_program_x() == 1) out[1] = out[0];",
     "thread 0 of program 1 reads 4 bytes that",
     "nt_add_relaxed(out, 1); nt_barrier(); if (t == 0 && "
     "nt_count_wrapping(counter, 1) == 1) out[1] = out[0];",
     2},
    {"CountsBeforeTheBarrier", "out[t + 128 * nt_program_x()] = 1; if (t == 0 && nt_fetch_add(counter, 1) == 1) out[0] = 2;",
     "thread 0 of program 1 writes 4 bytes that thread 0 of program 0 wrote",
     "out[t + 128 * nt_program_x()] = 1; nt_barrier(); if (t == 0 && nt_fetch_add(counter, 1) == 1) out[0] = 2;", 2},
    {"WaitsForNobody", "if (t == 0) { nt_fetch_add(counter, 1);\n while (nt_read_acquire(counter) != 3) {} } nt_barrier();",
     "1 thread spinning at", "if (t == 0) { nt_fetch_add(counter, 1);\n while (nt_read_acquire(counter) != 2) {} } nt_barrier();", 2, true},
    {"LooksForAWordThatNobodyWrites", "unsigned w[1] = {0}; if (t == 0) {\n while (w[0] == 0) nt_look_for_word<1>(w, counter); }",
     "1 thread spinning at",
     "unsigned w[1] = {0}; if (t == 0) {\n if (nt_program_x() == 1) { w[0] = 7; nt_write_word<1>(counter, w); w[0] = "
     "0; }\n"
     "while (w[0] == 0) nt_look_for_word<1>(w, counter); }",
     2, true},
    {"AWordOrdersNothingElse",
     "if (nt_program_x() == 0) { out[t] = 1; nt_barrier(); if (t == 0) nt_count_wrapping_relaxed(counter, 9); }\n"
     "else { if (t == 0) while (nt_read_relaxed(counter) == 0) {}\n nt_barrier(); out[128 + t] = out[t]; }",
     "thread 0 of program 1 reads 4 bytes that thread 0 of program 0 wrote",
     "if (nt_program_x() == 0) { out[t] = 1; nt_barrier(); if (t == 0) nt_fetch_add(counter, 1); }\n"
     "else { if (t == 0) while (nt_read_acquire(counter) == 0) {}\n nt_barrier(); out[128 + t] = out[t]; }",
     2, true},
    {"ReadsAnotherGroups", "s[t] = 0; nt_barrier(); s[t] = 1; nt_group_barrier(t / 64, 64); out[t] = s[t ^ 64];",
     "wrote, with nothing that orders the two", "s[t] = 0; nt_barrier(); s[t] = 1; nt_group_barrier(t / 64, 64); out[t] = s[t ^ 32];"},
    {"GroupBarrierUnderBranch", "if (t != 70) {\n nt_group_barrier(t / 64, 64);\n }", "at the group barrier of",
     "nt_group_barrier(t / 64, 64);"},
    {"GroupOfOthers", "nt_group_barrier(1 - t / 64, 64);", "which is none of its own", "nt_group_barrier(t / 64, 64);"},
    {"ReadsTheLaunchAheadTooEarly", "const float before = out[t]; nt_await_previous_launch(); out[t] = before + 1;",
     "reads 4 bytes that the launch ahead wrote", "nt_await_previous_launch(); const float before = out[t]; out[t] = before + 1;", 1, false,
     2},
    // Clusters; what is sent lands in s, counted by the barrier behind it.
    {"SendsToAClusterThatHasNotBegun",
     "unsigned long long* b = reinterpret_cast<unsigned long long*>(s + 256); if (t == 0) { nt_bulk_begin(b); nt_share_barriers(); } "
     "nt_cluster_arrive(); if (t == 0) nt_bulk_expect(b, 512); nt_send(s + t, b, nt_program_x() ^ 1, 1); nt_cluster_wait(); "
     "nt_bulk_wait(b, "
     "0);",
     "which may not have begun", SHARED "if (t == 0) nt_bulk_expect(b, 512); nt_send(s + t, b, nt_program_x() ^ 1, 1); nt_bulk_wait(b, 0);",
     2, false, 1, 2},
    {"SendsToABarrierThatIsNotShared",
     "unsigned long long* b = reinterpret_cast<unsigned long long*>(s + 256); if (t == 0) nt_bulk_begin(b); nt_cluster_arrive(); "
     "nt_cluster_wait(); if (t == 0) nt_bulk_expect(b, 512); nt_send(s + t, b, nt_program_x() ^ 1, 1); nt_bulk_wait(b, 0);",
     "whose barrier was not shared",
     SHARED "if (t == 0) nt_bulk_expect(b, 512); nt_send(s + t, b, nt_program_x() ^ 1, 1); nt_bulk_wait(b, 0);", 2, false, 1, 2},
    {"SendsToAProgramThatMayHaveEnded", SHARED "if (nt_program_x() == 0) nt_send(s + t, b, 1, 1);",
     "program 1 ends while bytes are on their way to it",
     SHARED "if (nt_program_x() == 0) nt_send(s + t, b, 1, 1); else { if (t == 0) nt_bulk_expect(b, 512); nt_bulk_wait(b, 0); }", 2, false,
     1, 2},
    {"ReadsWhatIsSentTooEarly",
     SHARED "if (t == 0) nt_bulk_expect(b, 512); nt_send(s + t, b, nt_program_x() ^ 1, 1); out[t + 128 * nt_program_x()] = s[t]; "
            "nt_bulk_wait(b, 0);",
     "that nobody has written",
     SHARED
     "if (t == 0) nt_bulk_expect(b, 512); nt_send(s + t, b, nt_program_x() ^ 1, 1); nt_bulk_wait(b, 0); out[t + 128 * nt_program_x()] "
     "= s[t];",
     2, false, 1, 2},
    {"BytesThatAreNotSent",
     SHARED "if (t == 0) nt_bulk_expect(b, 512); if (t != 5) nt_send(s + t, b, nt_program_x() ^ 1, 1); nt_bulk_wait(b, 0);",
     "at the bulk barrier of",
     SHARED "if (t == 0) nt_bulk_expect(b, 508); if (t != 5) nt_send(s + t, b, nt_program_x() ^ 1, 1); nt_bulk_wait(b, "
            "0);",
     2, false, 1, 2},
    {"SendsOverWhatIsRead",
     SHARED
     "for (int i = 0; i < 2; ++i) {\n if (t == 0) nt_bulk_expect(b, 512); nt_send(s + t, b, nt_program_x() ^ 1, 1); nt_bulk_wait(b, i); "
     "out[t + 128 * nt_program_x()] = s[t]; }",
     "asynchronously, and has not waited for it",
     SHARED "for (int i = 0; i < 2; ++i) {\n if (t == 0) nt_bulk_expect(b + i, 512); nt_warp_barrier(); nt_send(s + 128 * i + t, b + i, "
            "nt_program_x() ^ 1, 1); nt_bulk_wait(b + i, 0); out[t + 128 * nt_program_x()] = s[128 * i + t]; }",
     2, false, 1, 2},
    {"SendsOverWhatAnotherLaneReads",
     SHARED "for (int i = 0; i < 3; ++i) {\n if (t == 0) nt_bulk_expect(b + (i & 1), 512);\n nt_send(s + 128 * (i & 1) + t, b + (i & 1), "
            "nt_program_x() ^ 1, 1); nt_bulk_wait(b + (i & 1), i / 2); out[t + 128 * nt_program_x()] = s[128 * (i & 1) + (t ^ 1)]; }",
     "with nothing that orders the two",
     SHARED
     "for (int i = 0; i < 3; ++i) {\n if (t == 0) nt_bulk_expect(b + (i & 1), 512); nt_warp_barrier();\n nt_send(s + 128 * (i & 1) + "
     "t, b + (i & 1), nt_program_x() ^ 1, 1); nt_bulk_wait(b + (i & 1), i / 2); out[t + 128 * nt_program_x()] = s[128 * (i & 1) + (t ^ "
     "1)]; }",
     2, false, 1, 2},
    {"PartOfAWarpsBarrier", "if (t != 3) {\n nt_warp_barrier();\n }", "at the warp's barrier of", "nt_warp_barrier();"},
    {"ReadsAnotherWarps", "s[t] = 0; nt_barrier(); s[t] = 1; nt_warp_barrier(); out[t] = s[t ^ 64];",
     "wrote, with nothing that orders the two", "s[t] = 1; nt_warp_barrier(); out[t] = s[t ^ 16];"},
    {"OneOfTheClusterLeavesOutTheBarrier", "if (nt_program_x() == 0) { nt_cluster_arrive(); nt_cluster_wait(); }",
     "at the cluster's barrier of", "nt_cluster_arrive(); nt_cluster_wait();", 2, false, 1, 2},
    {"TwoHalvesOfTheClustersBarrier", "nt_cluster_wait(); nt_cluster_arrive();", "without having come to it",
     "nt_cluster_arrive(); nt_cluster_wait();", 2, false, 1, 2},
    {"ComesToTheClustersBarrierAgain", "nt_cluster_arrive(); nt_cluster_arrive(); nt_cluster_wait();", "again without having waited",
     "nt_cluster_arrive(); nt_cluster_wait(); nt_cluster_arrive(); nt_cluster_wait();", 2, false, 1, 2},
    // Bulk copies; s has two rows of 128 floats, the barrier lies behind them.
    {"BulkReadBeforeItHasCome",
     BULK "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_barrier(); out[t] = s[t]; nt_bulk_wait(b, 0);",
     "copies to asynchronously, and has not waited for it",
     BULK "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_bulk_wait(b, 0); out[t] = s[t];"},
    {"BulkWaitOfAnotherThread",
     BULK
     "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } if (t < 64) nt_bulk_wait(b, 0); nt_barrier(); out[t] = s[t];",
     "that a bulk copy wrote, with nothing that orders the two",
     BULK "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_bulk_wait(b, 0); nt_barrier(); out[t] = s[t ^ 64];"},
    {"BulkCopyOverwrittenUnawaited",
     BULK
     "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_barrier(); if (t < 64) nt_bulk_wait(b, 0); s[t] = out[t];",
     "of shared memory",
     BULK
     "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } if (t < 64) nt_bulk_wait(b, 0); nt_barrier(); s[t] = out[t];"},
    {"BulkPhaseThatHasEnded",
     BULK
     "for (int i = 0; i < 2; ++i) {\n if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in + 144 * i, 512, b); } nt_bulk_wait(b, 0); "
     "out[t] = s[t]; nt_barrier(); }",
     "read, with nothing that orders the two",
     BULK "for (int i = 0; i < 2; ++i) {\n if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in + 144 * i, 512, b); } nt_bulk_wait(b, "
          "i & 1); "
          "out[t] = s[t]; nt_barrier(); }"},
    {"BulkBytesThatNeverCome",
     BULK "if (t == 0) { nt_bulk_expect(b, 1024); nt_bulk_load(s, in, 512, b); } nt_bulk_wait(b, 0); out[t] = s[t];",
     "at the bulk barrier of",
     BULK "if (t == 0) { nt_bulk_expect(b, 1024); nt_bulk_load(s, in, 512, b); nt_bulk_load(s + 128, in + 144, 512, b); } "
          "nt_bulk_wait(b, 0); out[t] = s[t] + s[t + 128];"},
    {"BulkLoadOverWhatIsRead",
     BULK "for (int i = 0; i < 2; ++i) {\n if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in + 144 * i, 512, b); } nt_bulk_wait(b, "
          "i & 1); "
          "out[t] = s[t]; }",
     "at the bulk barrier of",
     BULK "for (int i = 0; i < 2; ++i) {\n if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in + 144 * i, 512, b); } nt_bulk_wait(b, "
          "i & 1); "
          "out[t] = s[t]; nt_barrier(); }"},
    {"BulkLoadOverWhatIsWrittenUnfenced",
     BULK "s[t] = 1; nt_barrier(); if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_bulk_wait(b, 0); out[t] = s[t];",
     "wrote, with no fence for bulk copies behind it",
     BULK "s[t] = 1; nt_bulk_fence(); nt_barrier(); if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_bulk_wait(b, "
          "0); out[t] = s[t];"},
    {"BulkStoreUnfenced", "s[t] = 1; nt_barrier(); if (t == 0) { nt_bulk_store(out, s, 512); nt_bulk_commit(); nt_bulk_wait_read<0>(); }",
     "wrote, with no fence for bulk copies behind it",
     "s[t] = 1; nt_bulk_fence(); nt_barrier(); if (t == 0) { nt_bulk_store(out, s, 512); nt_bulk_commit(); nt_bulk_wait_read<0>(); }"},
    {"BulkStoreBeforeTheBarrier",
     "s[t] = 1; nt_bulk_fence(); if (t == 127) { nt_bulk_store(out, s, 512); nt_bulk_commit(); nt_bulk_wait_read<0>(); }",
     "wrote, with nothing that orders the two",
     "s[t] = 1; nt_bulk_fence(); nt_barrier(); if (t == 127) { nt_bulk_store(out, s, 512); nt_bulk_commit(); nt_bulk_wait_read<0>(); }"},
    {"BulkStoreThatIsOvertaken",
     "s[t] = 1; nt_bulk_fence(); nt_barrier(); if (t == 0) { nt_bulk_store(out, s, 512); nt_bulk_commit(); } nt_barrier(); s[t] = 2; "
     "if (t == 0) nt_bulk_wait_read<0>();",
     "may still read",
     "s[t] = 1; nt_bulk_fence(); nt_barrier(); if (t == 0) { nt_bulk_store(out, s, 512); nt_bulk_commit(); nt_bulk_wait_read<0>(); } "
     "nt_barrier(); s[t] = 2;"},
    {"BulkStoreAtTheEnd",
     "s[t] = 1; nt_bulk_fence(); nt_barrier(); if (t == 0) { nt_bulk_store(out, s, 512); nt_bulk_commit(); nt_bulk_wait_read<1>(); }",
     "ends while bulk copies may still read",
     "s[t] = 1; nt_bulk_fence(); nt_barrier(); if (t == 0) { nt_bulk_store(out, s, 512); nt_bulk_commit(); nt_bulk_wait_read<0>(); }"},
    {"BulkLoadAtTheEnd", BULK "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); }",
     "ends while bytes are on their way to it",
     BULK "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_bulk_wait(b, 0);"},
    {"BulkLoadOfWhatIsWrittenOver",
     BULK "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, out, 512, b); } nt_barrier(); out[t] = 1; nt_bulk_wait(b, 0);",
     "a bulk copy read, with nothing that orders the two",
     BULK "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, out, 512, b); } nt_bulk_wait(b, 0); out[t] = 1;"},
    {"BulkLoadOfOddSize", BULK "if (t == 0) { nt_bulk_expect(b, 24); nt_bulk_load(s, in, 24, b); } nt_bulk_wait(b, 0);",
     "must be multiples of 16", BULK "if (t == 0) { nt_bulk_expect(b, 32); nt_bulk_load(s, in, 32, b); } nt_bulk_wait(b, 0);"},
    {"BulkLoadBeyondRow", BULK "if (t == 0) { nt_bulk_expect(b, 528); nt_bulk_load(s, in, 528, b); } nt_bulk_wait(b, 0);",
     "beyond the row's end", BULK "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_bulk_wait(b, 0);"},
    {"BulkBarrierUnfenced",
     "unsigned long long* b = reinterpret_cast<unsigned long long*>(s + 256); if (t == 0) nt_bulk_begin(b); nt_barrier(); "
     "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_bulk_wait(b, 0);",
     "was begun without a fence", BULK "if (t == 0) { nt_bulk_expect(b, 512); nt_bulk_load(s, in, 512, b); } nt_bulk_wait(b, 0);"},
};

void PrintTo(const Pair& pair, std::ostream* out) {
    *out << pair.name;
}

class EmulatedProbes : public ::testing::TestWithParam<Pair> {};

TEST_P(EmulatedProbes, TellsWhatIsWrongAndPassesWhatIsRight) {
    const Pair& pair = GetParam();
    for (const int warp_size : {32, 64}) {
        const std::string told = Probe(warp_size).run(pair.wrong, pair.programs, pair.cooperative, pair.launches, pair.cluster);
        EXPECT_NE(told.find(pair.told), std::string::npos) << "told: " << told;
        EXPECT_EQ(Probe(warp_size).run(pair.right, pair.programs, pair.cooperative, pair.launches, pair.cluster), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EmulatedProbes, ::testing::ValuesIn(pairs),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(Emulation, NamesThePlaceInTheSource) {
    const std::string told = Probe(32).run("\n#line 7 \"probe.gpu.h\"\nif (t == 1) nt_barrier();", 1, false, 1);
    EXPECT_EQ(told, "program 0 cannot go on: 127 threads ended (thread 0, …), 1 thread at the barrier of probe.gpu.h:7 (thread 1)");
}

}  // namespace
}  // namespace normtune
