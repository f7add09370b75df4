// The kernels' own source with one thing taken out of it: the emulation tells each, or what verification says of its results.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "kernels/gpu/emulated_device.h"
#include "kernels/gpu/without_sanitizer.h"
#include "verify/verifier.h"

namespace normtune {
namespace {

/// One thing taken out, on a problem and configuration that need it.
struct Mutation {
    const char* name;
    int warp_size;
    const char* problem;
    const char* configuration;
    const char* from;
    const char* to;
    const char* told;  ///< Part of the emulation's fault, or of verification's reason.
};

constexpr Mutation mutations[] = {
    {"BarrierOfRowSum", 32, "rms_norm/forward/bf16/llama/3x512", "w2.t64.r1.row.registers.masked.per_row",
     "} else {\n            nt_barrier();\n        }", "}", "shared memory"},
    {"BarrierOfRowSumOnAmd", 64, "rms_norm/forward/bf16/llama/3x1024", "w4.t128.r2.row.registers.masked.packed",
     "} else {\n            nt_barrier();\n        }", "}", "shared memory"},
    {"GroupBarrierOfRowSum", 32, "rms_norm/forward/bf16/llama/3x512", "w4.t64.r2.row.registers.masked.packed",
     "nt_group_barrier(nt_group(), nt_threads_per_row);", "", "shared memory"},
    {"BothScratchAreasTheSame", 32, "rms_norm/forward/bf16/llama/8x512", "w2.t64.r4.row.registers.masked.packed",
     "(step & 1) * nt_scratch_floats + nt_group()", "0 * nt_scratch_floats + nt_group()", "shared memory"},
    {"BarrierBeforeGroupsAreCombined", 32, "rms_norm/backward/bf16/llama/8x512", "w4.t64.r2.row.registers.masked.packed",
     "if constexpr (!nt_publishes) {\n            nt_barrier();\n        }", "", "shared memory"},
    {"BarrierWhileGroupsAreCombined", 64, "rms_norm/backward/bf16/llama/9x128", "w2.t16.r8.row.registers.masked.packed",
     "nt_barrier();\n        constexpr int width", "constexpr int width", "shared memory"},
    {"BarrierOfColumnSum", 64, "rms_norm/backward/bf16/llama/9x128", "w1.t64.r1.row.registers.masked.per_row",
     "nt_barrier();\n        if (thread < Lanes)", "if (thread < Lanes)", "static shared memory"},
    {"WaitOfAsynchronousCopies", 32, "rms_norm/forward/bf16/llama/8x512", "w1.t32.r4.row.shared.masked.packed.s2",
     "nt_wait_async<Pending>()", "nt_wait_async<Pending + 1>()", "has not waited for it"},
    {"GridBarrier", 64, "rms_norm/backward/bf16/llama/15x1024", "w2.t64.r2.b512.reload.masked.persistent_strided.cooperative.tile16x32x2",
     "nt_grid_barrier(counter, own, all);", "", "workspace"},
    {"BarrierBeforeTheLastProgramIsFound", 32, "rms_norm/backward/bf16/llama/9x128", "w1.t32.r1.row.registers.masked.per_row.atomic",
     "nt_fence();\n    nt_barrier();\n    unsigned* last", "nt_fence();\n    unsigned* last", "workspace"},
    {"WaitForTheLaunchAhead", 32, "rms_norm/backward/bf16/llama/9x128", "w1.t32.r1.row.registers.masked.per_row",
     "} else {\n        nt_await_previous_launch();", "} else {", "the launch ahead wrote"},
    {"WaitOfADependentLaunch", 32, "rms_norm/full/bf16/llama/9x128", "w1.t32.r1.row.registers.masked.per_row.pdl_on",
     "if constexpr (NT_IS(DEPENDENT_LAUNCH, on)) {\n        nt_await_previous_launch();", "if constexpr (NT_IS(DEPENDENT_LAUNCH, on)) {",
     "the launch ahead wrote"},
    {"PublishedSumsTakenUnseen", 32, "rms_norm/backward/bf16/llama/9x128", "w1.t32.r1.row.registers.masked.per_row.published",
     "nt_look_for_word<Width>(words, reinterpret_cast<const unsigned*>(from));", "words[0] = from[0] != 0.0f ? 1u : 0u;",
     "the launch ahead"},
    {"BarrierWhilePublishedGroupsAreCombined", 32, "rms_norm/backward/bf16/llama/8x512", "w4.t64.r2.row.registers.masked.packed.published",
     "nt_barrier();\n        constexpr int width", "constexpr int width", "shared memory"},
    {"BarrierBetweenTilesOfAProgram", 32, "rms_norm/backward/bf16/llama/7x128",
     "w2.t64.r1.row.registers.masked.persistent_strided.gamma_hoisted.cooperative.tile32x8x2",
     "nt_barrier();  // the last tile's sums have been read", "", "shared memory"},
    {"BarrierBeforeTheFirstTileIsTold", 32, "rms_norm/backward/bf16/llama/7x512",
     "w4.t64.r2.row.registers.masked.persistent_strided.gamma_hoisted.cooperative.tile32x32x2",
     "nt_barrier();  // what lay there has been read", "", "shared memory"},
    {"CountOfThoseThatHaveSummedUp", 32, "rms_norm/backward/bf16/llama/7x128",
     "w2.t64.r1.row.registers.masked.persistent_strided.gamma_hoisted.cooperative.tile32x8x2",
     "for (int tile = first; tile < nt_reduce_tiles; tile += all) {",
     "if (few_steps) nt_count_published(counter, programs);\n        for (int tile = first; tile < nt_reduce_tiles; tile += all) {",
     "cannot go on"},
    {"DeferredStepsThatAProgramDoesNotHave", 32, "rms_norm/backward/bf16/llama/5x128",
     "w1.t32.r1.row.registers.masked.persistent_strided.gamma_hoisted.published.d2", "if (before_last <= last) {", "{",
     "that nobody has written"},
    {"DeferredPiecesOfTheNextThread", 32, "rms_norm/backward/bf16/llama/29x128",
     "w2.t64.r1.row.registers.masked.persistent_strided.gamma_hoisted.cooperative.tile32x32x2.d2",
     "nt_store_shared(nt_deferred_piece(deferred, last - step, held, access), out);",
     "nt_store_shared(nt_deferred_piece(deferred, last - step, held, access) + (nt_thread() == 0 ? nt_piece : 0), "
     "out);",
     "shared memory"},
    {"ClustersSumBeforeAllHaveBegun", 32, "rms_norm/forward/bf16/llama/3x512", "w1.t32.r1.row.registers.masked.per_row.c2",
     "if (step == 0) {", "if (false) {", "which may not have begun"},
    {"ScratchOfAClusterTheSame", 32, "rms_norm/forward/bf16/llama/8x1024", "w2.t64.r4.row.registers.masked.packed.c2",
     "scratch + ((step & 1) * Groups + group) * (parts * Count)", "scratch + group * (parts * Count)", "shared memory of program"},
    {"RowsSideBySideInAClusterShareTheirSums", 32, "rms_norm/forward/bf16/llama/8x1024", "w2.t32.r2.row.registers.masked.packed.c2",
     "scratch + ((step & 1) * Groups + group) * (parts * Count)", "scratch + (step & 1) * (parts * Count)", "shared memory of program"},
    {"RowsSideBySideInAClusterShareABarrier", 32, "rms_norm/forward/bf16/llama/8x1024", "w2.t32.r2.row.registers.masked.packed.c2",
     "barriers + (step & 1) * Groups + group", "barriers + (step & 1) * Groups", "tells the bytes of a phase twice"},
    {"ColumnsOfRowsSideBySideInACluster", 32, "rms_norm/backward/bf16/llama/8x1024", "w2.t32.r2.row.registers.masked.packed.published.c2",
     "(at / access_cols * NT_CLUSTER + nt_cluster_rank()) * access_cols + at % access_cols", "at", "cannot go on"},
    {"TilesOfACooperativeCluster", 32, "rms_norm/backward/bf16/llama/90x1024",
     "w2.t32.r2.row.registers.masked.persistent_strided.gamma_hoisted.cooperative.tile32x32x2.d1.c2",
     "const int own = NT_CLUSTER > 1 ? NT_CLUSTER * program + nt_cluster_rank() : program;", "const int own = program;", "cannot go on"},
    {"BytesOfAClustersSums", 32, "rms_norm/forward/bf16/llama/3x1024", "w2.t64.r1.row.registers.masked.per_row.c2", "parts * Count * 4);",
     "parts * Count * 4 - 4);", "that nobody has written"},
    {"WaitOfAClustersSums", 32, "rms_norm/forward/bf16/llama/3x1024", "w2.t64.r1.row.registers.masked.per_row.c2",
     "nt_bulk_wait(barrier, static_cast<unsigned>(step / 2) & 1u);", "", "that nobody has written"},
    {"PhaseOfAClustersSums", 32, "rms_norm/forward/bf16/llama/12x1024", "w2.t64.r4.row.registers.masked.packed.c2",
     "static_cast<unsigned>(step / 2) & 1u", "0u", "with nothing that orders the two"},
    {"WarpsBarrierOfAClustersSums", 32, "rms_norm/forward/bf16/llama/8x1024", "w2.t64.r4.row.registers.masked.packed.c2",
     "nt_warp_barrier();  // all", "// all", "shared memory of program"},
    {"BarriersOfAClusterUnshared", 32, "rms_norm/forward/bf16/llama/3x1024", "w2.t64.r1.row.registers.masked.per_row.c2",
     "nt_share_barriers();\n    }\n    nt_cluster_arrive();\n#endif", "}\n    nt_cluster_arrive();\n#endif",
     "whose barrier was not shared"},
    {"PlaceInTheClustersScratch", 32, "rms_norm/forward/bf16/llama/3x2048", "w2.t64.r1.row.registers.masked.per_row.c4",
     "area + i * parts + nt_cluster_rank() * Warps + warp", "area + i * parts + warp", "shared memory of program"},
    {"AllOfAClusterWriteTheScale", 32, "rms_norm/forward/bf16/llama/3x512", "w1.t32.r1.row.registers.masked.per_row.c2",
     "(NT_CLUSTER == 1 || nt_cluster_rank() == 0) && nt_lane() == 0", "nt_lane() == 0", "rstd"},
    {"PartsSentBeforeTheFirstHasBegun", 32, "rms_norm/backward/bf16/llama/70x128",
     "w2.t16.r4.row.registers.even.packed.beside.tile32x32x4.parts4.pc4", "nt_cluster_wait();  // the first program has begun", "// ",
     "which may not have begun"},
    {"BytesOfAClustersParts", 32, "rms_norm/backward/bf16/llama/70x128",
     "w2.t16.r4.row.registers.even.packed.beside.tile32x32x4.parts4.pc4",
     "NT_REDUCE_CLUSTER * NT_REDUCE_COLS * 4);\n    }\n    nt_bulk_wait",
     "NT_REDUCE_CLUSTER * NT_REDUCE_COLS * 4 - 4);\n    }\n    nt_bulk_wait", "has not waited for it"},
    {"WaitOfAClustersParts", 32, "rms_norm/backward/bf16/llama/70x128", "w2.t16.r4.row.registers.even.packed.beside.tile32x32x4.parts4.pc4",
     "nt_bulk_wait(barrier, 0u);", "", "has not waited for it"},
    {"PlaceOfAPartInItsCluster", 32, "rms_norm/backward/bf16/llama/70x128",
     "w2.t16.r4.row.registers.even.packed.beside.tile32x32x4.parts4.pc4", "sent + rank * NT_REDUCE_COLS +", "sent +",
     "shared memory of program"},
    {"BarrierOfPartsUnshared", 32, "rms_norm/backward/bf16/llama/70x128",
     "w2.t16.r4.row.registers.even.packed.beside.tile32x32x4.parts4.pc4",
     "nt_share_barriers();\n    }\n    nt_cluster_arrive();\n    nt_split", "}\n    nt_cluster_arrive();\n    nt_split",
     "whose barrier was not shared"},
    {"BarrierBeforePartsAreAddedUp", 32, "rms_norm/backward/bf16/llama/70x128",
     "w2.t16.r4.row.registers.even.packed.beside.tile32x32x4.parts16", "if (*before == others) {\n        nt_barrier();",
     "if (*before == others) {", "shared memory"},
    {"FirstRowOfClustersBehindTheSums", 32, "rms_norm/backward/bf16/llama/13x1152",
     "w2.t64.r1.row.registers.masked.per_row.v8.beside.tile32x32x2.c4", "nt_programs_beside() / NT_CLUSTER", "nt_programs_beside()",
     "outside of its memory"},
    {"ProgramsThatFillAClusterUpGoOn", 32, "rms_norm/backward/bf16/llama/13x1160",
     "w2.t64.r1.row.registers.masked.per_row.gamma_before.v8.beside.tile16x32x2.parts2.c4", "return;  // one that fills a cluster up", "",
     "outside of its memory"},
    {"ProgramsThatFillAClusterUpTakeRows", 32, "rms_norm/backward/bf16/llama/301x520",
     "w2.t64.r1.row.registers.masked.persistent_strided.gamma_hoisted.s2.beside.tile32x32x2.parts8.pc8",
     "if (nt_strided() && program >= programs) {", "if (false) {", "at dx, row"},
    {"ProgramsThatFillAClusterUpAreNotAsked", 32, "rms_norm/backward/bf16/llama/13x1160",
     "w2.t64.r1.row.registers.masked.per_row.beside.tile32x32x2.parts4.pc4", "(NT_BACKWARD && NT_CLUSTER == 1 && nt_begins_with_a_row())",
     "false", "outside of its memory"},
    {"RstdOfTheStepsBefore", 32, "rms_norm/backward/bf16/llama/101x1040",
     "w1.t32.r1.row.registers.masked.persistent_strided.gamma_hoisted.s3.published.tile32x32x1.c4", "hand_on(ahead[0]);", "", "dx["},
    {"RstdOfAnotherLane", 32, "rms_norm/backward/bf16/llama/101x1040",
     "w1.t32.r1.row.registers.masked.persistent_strided.gamma_hoisted.s3.published.tile32x32x1.c4",
     "nt_shuffle_from<NT_WARP_SIZE>(ahead[0][held], at)", "nt_shuffle_from<NT_WARP_SIZE>(ahead[0][held], (at + 1) % NT_WARP_SIZE)", "dx["},
    {"ColumnsBeyondTheRow", 32, "rms_norm/forward/bf16/llama/3x96/stride104", "w1.t32.r1.row.registers.masked.per_row",
     "|| column < nt_cols", "|| true", "beyond the row's end"},
    {"RowsBeyondTheLast", 64, "rms_norm/forward/bf16/llama/9x96", "w1.t16.r4.row.reload.masked.packed",
     "!nt_asks_of_each_row() || row_ < rows", "true", "outside of its memory"},
    {"ShuffleOfSomeLanes", 32, "rms_norm/forward/bf16/llama/9x96", "w1.t16.r2.row.registers.masked.packed",
     "sum[i] += nt_shuffle_xor(sum[i], mask);", "if (nt_lane() < 8) sum[i] += nt_shuffle_xor(sum[i], mask);",
     "at the shuffle of layout.gpu.h"},
    {"WaitOfBulkCopies", 32, "rms_norm/forward/bf16/llama/9x512", "w2.t64.r1.row.shared.masked.persistent_strided.s2.tma_loads",
     "bulk.wait(step);", "", "that nobody has written"},
    {"PhaseOfBulkCopies", 32, "rms_norm/forward/bf16/llama/19x512", "w2.t64.r1.row.shared.masked.persistent_strided.s2.tma_loads",
     "static_cast<unsigned>(step / nt_slots) & 1u", "0u", "with nothing that orders the two"},
    {"BytesOfBulkCopies", 32, "rms_norm/forward/bf16/llama/23x512", "w4.t64.r2.row.shared.even.persistent_strided.s2.tma_loads",
     "nt_bulk_expect(barrier, Inputs * rows * nt_run_bytes());", "nt_bulk_expect(barrier, Inputs * nt_step_rows * nt_run_bytes());",
     "at the bulk barrier of"},
    {"SlotBeforeAllHaveDoneWithIt", 32, "rms_norm/forward/bf16/llama/19x512", "w2.t64.r1.row.shared.masked.persistent_strided.s2.tma_loads",
     "load_bulk(step - 1 + depth);", "load_bulk(step + depth);", "with nothing that orders the two"},
    {"BarrierOfRowsInOneWarp", 32, "rms_norm/forward/bf16/llama/43x256", "w4.t32.r4.row.registers.even.persistent_strided.s2.tma_loads",
     "if constexpr (!nt_sum_is_barrier) {\n            nt_barrier();\n        }", "", "with nothing that orders the two"},
    {"BarrierBehindASentSum", 32, "rms_norm/forward/bf16/llama/19x1032", "w2.t64.r1.row.shared.masked.persistent_strided.s2.c2.tma_loads",
     "nt_sum_is_barrier = NT_CLUSTER == 1 && ", "nt_sum_is_barrier = NT_CLUSTER > 1 || ", "with nothing that orders the two"},
    {"FenceOfResults", 32, "rms_norm/forward/bf16/llama/19x512", "w2.t64.r1.row.shared.masked.persistent_strided.s3.tma",
     "if (wrote) {\n            nt_bulk_fence();\n        }", "", "with no fence for bulk copies behind it"},
    {"FenceOfSumsInTheSlot", 32, "fused_add_rms_norm/forward/bf16/llama/19x512",
     "w2.t64.r1.row.shared.masked.persistent_strided.s2.tma_loads", "(keep_sum && NT_IS(RESIDENCY, shared))", "false",
     "with no fence for bulk copies behind it"},
    {"ResultsStillReadFromTheSlot", 32, "rms_norm/forward/bf16/llama/29x512", "w2.t64.r1.row.shared.masked.persistent_strided.s3.tma",
     "nt_bulk_wait_read<behind - 1>();", "", "may still read"},
    {"BarrierBeforeTheLastResultsLeave", 32, "rms_norm/forward/bf16/llama/29x512", "w2.t64.r1.row.shared.masked.persistent_strided.s3.tma",
     "nt_barrier();\n        if (nt_thread() == 0 && stored >= 0) {", "if (nt_thread() == 0 && stored >= 0) {",
     "with nothing that orders the two"},
    {"EndBeforeTheLastResultsAreRead", 32, "rms_norm/forward/bf16/llama/29x512", "w2.t64.r1.row.shared.masked.persistent_strided.s3.tma",
     "nt_bulk_wait_read<0>();", "", "may still read"},
    {"FenceOfTheBarriersOfBulkCopies", 32, "rms_norm/forward/bf16/llama/9x512",
     "w2.t64.r1.row.shared.masked.persistent_strided.s2.tma_loads", "}\n            nt_bulk_fence();", "}", "was begun without a fence"},
    {"ColumnsOfAClusterInBulk", 32, "rms_norm/forward/bf16/llama/3x1800", "w1.t32.r3.row.shared.masked.packed.s2.c4.tma_loads",
     "left > nt_program_cols() ? nt_program_cols() : left", "false ? 0 : left", "outside of a program's shared memory"},
    {"IncomingDsOfNoRow", 32, "fused_add_rms_norm/backward/bf16/llama/3x512", "w2.t32.r2.row.shared.masked.packed.ds_direct",
     "walk.has_row(step, row) && nt_in_row(nt_column(access)));", "nt_in_row(nt_column(access)));", "outside of its memory"},
    {"IncomingDsBeyondTheRow", 32, "fused_add_rms_norm/backward/bf16/llama/3x500", "w2.t64.r1.row.shared.masked.per_row.ds_direct",
     "walk.has_row(step, row) && nt_in_row(nt_column(access)));", "walk.has_row(step, row));", "outside of its memory"},
    {"BarrierOfSomeSteps", 32, "rms_norm/forward/bf16/llama/5x512", "w2.t64.r4.row.registers.masked.packed",
     "stage.template first_pass<!keep_sum>(step, chunk, inputs);", "if (nt_lane() < 32 && step == 1) nt_barrier();",
     "comes to the barrier of"},
};

void PrintTo(const Mutation& mutation, std::ostream* out) {
    *out << mutation.name;
}

class MutatedKernels : public testing::WithoutSanitizer<Mutation> {};

TEST_P(MutatedKernels, AreTold) {
    const Mutation& mutation = GetParam();
    const Problem problem = parse_problem_key(mutation.problem);
    const auto verify = [&](bool mutate) {
        testing::EmulationOptions options;
        options.supports = [&](const Shape& shape) { return shape == problem.shape; };
        options.edit = [&](std::string source) {
            const std::string from = mutation.from;
            const std::size_t at = source.find(from);
            EXPECT_NE(at, std::string::npos) << "the source has changed: nothing is taken out";
            EXPECT_EQ(source.find(from, at + 1), std::string::npos) << "more than one place";
            return mutate && at != std::string::npos ? source.replace(at, from.size(), mutation.to) : source;
        };
        testing::EmulatedDevice device(mutation.warp_size, options);
        Verifier verifier(device, problem, 7);
        return verifier.verify(Configuration::parse(mutation.configuration));
    };
    EXPECT_TRUE(verify(false).passed);
    std::string told;
    try {
        const Verification verification = verify(true);
        ASSERT_FALSE(verification.passed) << "not told";
        told = verification.reason;
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::launch_failed) << error.what();
        told = error.what();
    }
    EXPECT_NE(told.find(mutation.told), std::string::npos) << told;
}

INSTANTIATE_TEST_SUITE_P(Source, MutatedKernels, ::testing::ValuesIn(mutations),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace normtune
