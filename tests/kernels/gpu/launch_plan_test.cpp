#include "kernels/gpu/launch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "kernels/gpu/layout.h"
#include "kernels/gpu/limits.h"
#include "space/space.h"

namespace normtune::gpu {
namespace {

DeviceInfo h100() {
    DeviceInfo device;
    device.backend = Backend::cuda;
    device.arch = "sm_90";
    device.warp_size = 32;
    device.compute_units = 132;
    device.shared_bytes_per_program = 232448;
    device.has_async_copy = true;
    return device;
}

LaunchPlan plan(const char* problem, const char* configuration) {
    const Problem p = parse_problem_key(problem);
    const Configuration c = Configuration::parse(configuration);
    EXPECT_EQ(objection(c, p, h100()), "") << configuration;
    return launch_plan(c, p, h100());
}

const Argument& argument(const Launch& launch, std::string_view name) {
    const auto found = std::find_if(launch.arguments.begin(), launch.arguments.end(), [&](const Argument& a) { return a.name == name; });
    EXPECT_NE(found, launch.arguments.end()) << name;
    return *found;
}

std::vector<std::string> kernels(const LaunchPlan& plan) {
    std::vector<std::string> out;
    for (const Launch& launch : plan.launches) {
        out.push_back(launch.kernel);
    }
    return out;
}

TEST(LaunchPlan, ForwardPerRow) {
    const LaunchPlan p = plan("rms_norm/forward/bf16/llama/8192x4096", "w8.t256.r1.row.registers.masked.per_row");
    ASSERT_EQ(kernels(p), std::vector<std::string>{"nt_forward"});
    EXPECT_EQ(p.launches[0].grid[0], 8192);
    EXPECT_EQ(p.launches[0].threads(), 256);
    EXPECT_EQ(p.launches[0].shared_bytes, 2 * 8 * 4);  // two scratch areas of a float a warp
    EXPECT_EQ(p.workspace_bytes, 0);
    EXPECT_EQ(argument(p.launches[0], "residual").source, Argument::Source::null);
    EXPECT_EQ(argument(p.launches[0], "rows").integer, 8192);
    EXPECT_FLOAT_EQ(argument(p.launches[0], "eps").real, 1e-6F);
}

TEST(LaunchPlan, PackedRowsRoundUp) {
    const LaunchPlan p = plan("rms_norm/forward/bf16/llama/1001x128", "w4.t16.r16.row.registers.masked.packed");
    EXPECT_EQ(p.launches[0].grid[0], 63);
    EXPECT_EQ(p.launches[0].shared_bytes, 0);  // sixteen threads of a row are within a warp
}

TEST(LaunchPlan, PersistentContiguousSharesRowsWithoutEmptyPrograms) {
    const LaunchPlan p = plan("rms_norm/forward/bf16/llama/1000x4096", "w8.t256.r4.row.registers.masked.persistent_contiguous.runtime");
    EXPECT_EQ(argument(p.launches[0], "rows_per_program").integer,
              8);  // ceil(1000 / 132), then up to whole groups of 4
    EXPECT_EQ(p.launches[0].grid[0], 125);
}

TEST(LaunchPlan, AsManyProgramsAreResidentAsAUnitHasThreadsFor) {
    DeviceInfo device = h100();
    const Problem problem = parse_problem_key("rms_norm/forward/bf16/llama/8192x1024");
    const auto objection_to = [&](int threads, const std::string& programs) {
        device.threads_per_compute_unit = threads;
        return objection(Configuration::parse("w8.t256.r1.row.registers.masked.persistent_strided" + programs), problem, device);
    };
    EXPECT_EQ(objection_to(2048, ".p8"), "");
    EXPECT_EQ(objection_to(1536, ".p8"), "more threads than a compute unit holds at once");  // six of 256 threads
    EXPECT_EQ(objection_to(1536, ".p4"), "");
    EXPECT_EQ(objection_to(1024, ".p4"), "");
    EXPECT_EQ(objection_to(512, ".p4"), "more threads than a compute unit holds at once");
}

TEST(LaunchPlan, PersistentBalancedHasNoProgramThatTakesOneMore) {
    const auto programs = [](const char* problem, const char* configuration) { return plan(problem, configuration).launches[0].grid[0]; };
    const char* two = "w8.t256.r1.row.registers.masked.persistent_balanced.p2";
    EXPECT_EQ(programs("rms_norm/forward/bf16/llama/8192x4096", two), 256);  // 32 rows each; 264 would take 31 or 32
    EXPECT_EQ(programs("rms_norm/forward/bf16/llama/8448x4096", two), 264);
    EXPECT_EQ(programs("rms_norm/forward/bf16/llama/100x4096", two), 100);
    EXPECT_EQ(programs("rms_norm/forward/bf16/llama/265x4096", two), 133);
    EXPECT_EQ(programs("rms_norm/forward/bf16/llama/8192x1024", "w4.t64.r4.row.registers.masked.persistent_balanced.p2.h2"), 256);
}

TEST(LaunchPlan, PersistentStridedIsNoWiderThanItsTiles) {
    EXPECT_EQ(plan("rms_norm/forward/bf16/llama/100x4096", "w8.t256.r1.row.registers.masked.persistent_strided.p2").launches[0].grid[0],
              100);
    EXPECT_EQ(plan("rms_norm/forward/bf16/llama/8192x4096", "w8.t256.r1.row.registers.masked.persistent_strided.p2").launches[0].grid[0],
              264);
}

TEST(LaunchPlan, AMarginLeavesComputeUnitsToOtherWork) {
    const auto programs = [](const char* key) { return plan("rms_norm/forward/bf16/llama/8192x4096", key).launches.at(0).grid[0]; };
    EXPECT_EQ(programs("w4.t128.r1.row.registers.masked.persistent_strided.p2"), 264);
    EXPECT_EQ(programs("w4.t128.r1.row.registers.masked.persistent_strided.p2.um32"), 200);
}

TEST(LaunchPlan, PartialsAreReducedByALaunchThatMayOverlap) {
    const LaunchPlan p = plan("rms_norm/backward/bf16/llama/8192x4096", "w16.t512.r1.row.registers.masked.persistent_strided.runtime.s2");
    ASSERT_EQ(kernels(p), (std::vector<std::string>{"nt_backward", "nt_reduce"}));
    EXPECT_FALSE(p.launches[0].overlaps);
    EXPECT_TRUE(p.launches[1].overlaps);
    EXPECT_EQ(p.launches[1].grid[0], 64);
    EXPECT_EQ(argument(p.launches[1], "count").integer, 132);
    EXPECT_EQ(p.workspace_bytes, 256 + 132 * 4096 * 4);
    EXPECT_EQ(p.launches[0].shared_bytes, 2 * 16 * 4 + 2 * 4096 * 2);  // scratch, and one row of x and dy ahead
}

TEST(LaunchPlan, OneProgramWritesDgammaItself) {
    const LaunchPlan p = plan("rms_norm/backward/bf16/llama/1x4096", "w16.t512.r1.row.registers.masked.per_row");
    EXPECT_EQ(kernels(p), std::vector<std::string>{"nt_backward"});
    EXPECT_EQ(p.workspace_bytes, 0);
}

TEST(LaunchPlan, AtomicAndCooperativeAreOneLaunch) {
    const LaunchPlan atomic = plan("rms_norm/backward/bf16/llama/128x4096", "w16.t512.r1.row.registers.masked.per_row.atomic");
    EXPECT_EQ(kernels(atomic), std::vector<std::string>{"nt_backward"});
    EXPECT_FALSE(atomic.launches[0].cooperative);
    EXPECT_EQ(atomic.workspace_bytes, 256 + 4096 * 4);
    const LaunchPlan cooperative = plan("rms_norm/backward/bf16/llama/128x4096", "w16.t512.r1.row.registers.masked.per_row.cooperative");
    EXPECT_EQ(kernels(cooperative), std::vector<std::string>{"nt_backward"});
    EXPECT_TRUE(cooperative.launches[0].cooperative);
}

TEST(LaunchPlan, PartsOfDgammaAreProgramsAheadOfThoseOfDx) {
    const char* problem = "rms_norm/backward/bf16/llama/2047x512";
    const std::string key = "w8.t64.r4.row.registers.even.packed.beside.tile64x32x4.";
    const LaunchPlan memory = plan(problem, (key + "parts8").c_str());
    ASSERT_EQ(kernels(memory), std::vector<std::string>{"nt_backward"});
    EXPECT_EQ(memory.launches[0].grid[0], 16 * 8 + 512);
    EXPECT_EQ(memory.launches[0].cluster[0], 1);
    EXPECT_EQ(memory.workspace_bytes, 256 + 8 * 512 * 4);
    const LaunchPlan both = plan(problem, (key + "parts16.pc8").c_str());
    EXPECT_EQ(both.launches[0].grid[0], 16 * 16 + 512);
    EXPECT_EQ(both.launches[0].cluster[0], 8);
    EXPECT_EQ(both.workspace_bytes, 256 + 2 * 512 * 4) << "a row of each cluster";
    const LaunchPlan cluster = plan("rms_norm/backward/bf16/llama/2021x512", (key + "parts8.pc8").c_str());
    EXPECT_EQ(cluster.launches[0].grid[0], 16 * 8 + 512) << "506 of dx, up to whole clusters";
    EXPECT_EQ(cluster.workspace_bytes, 0);
    const LaunchPlan tiles =
        plan("rms_norm/backward/bf16/llama/64x4096", "w8.t256.r1.row.registers.even.per_row.beside.tile128x16x4.parts2");
    EXPECT_EQ(tiles.workspace_bytes, 1024 + 2 * 4096 * 4) << "a counter of each of 256 tiles";
}

TEST(LaunchPlan, OfClustersTheProgramsThatSumDgammaAreClustersToo) {
    const LaunchPlan p = plan("rms_norm/backward/bf16/llama/13x8192", "w4.t128.r1.row.registers.even.per_row.beside.tile64x128x4.c8");
    ASSERT_EQ(kernels(p), std::vector<std::string>{"nt_backward"});
    EXPECT_EQ(p.launches[0].grid[0], 64 + 13 * 8);
    EXPECT_EQ(p.launches[0].cluster[0], 8);
    EXPECT_EQ(p.workspace_bytes, 0);

    const LaunchPlan odd = plan("rms_norm/backward/bf16/llama/13x8200", "w4.t128.r1.row.registers.masked.per_row.beside.tile64x128x4.c8");
    EXPECT_EQ(odd.launches[0].grid[0], 72 + 13 * 8) << "seven programs fill the last cluster of 65 tiles up";
}

TEST(LaunchPlan, RowsSideBySideInClusters) {
    const LaunchPlan p = plan("rms_norm/backward/bf16/llama/1536x8192",
                              "w8.t64.r8.row.registers.even.persistent_strided.p2.gamma_hoisted.s2.cooperative.tile32x128x16.h2.c8");
    ASSERT_EQ(kernels(p), std::vector<std::string>{"nt_backward"});
    EXPECT_TRUE(p.launches[0].cooperative);
    EXPECT_EQ(p.launches[0].cluster[0], 8);
    EXPECT_EQ(p.launches[0].grid[0], 30 * 8) << "two programs on each of 120 units";
    EXPECT_EQ(argument(p.launches[0], "programs").integer, 30);
    EXPECT_EQ(p.workspace_bytes, 256 + 30 * 8192 * 4) << "a row of sums of each cluster";
    // Two areas of sums of two warps of eight programs, for two rows at once in four groups; a slot of x and dy; four groups' sums of the
    // program's 1,024 columns; two barriers of each group.
    EXPECT_EQ(p.launches[0].shared_bytes, 2 * 2 * 8 * 2 * 4 * 4 + 2 * 2 * 4 * 1024 * 2 + 4 * 1024 * 4 + 2 * 4 * 8);
}

TEST(LaunchPlan, PublishedSumsGoThroughTheReductionEvenOfOneProgram) {
    const std::string key = "w16.t128.r8.row.registers.even.persistent_strided.s2.published.tile256x8x4.h2";
    const LaunchPlan many = plan("rms_norm/backward/bf16/llama/8192x1024", key.c_str());
    ASSERT_EQ(kernels(many), (std::vector<std::string>{"nt_backward", "nt_reduce"}));
    EXPECT_TRUE(many.launches[1].overlaps);
    EXPECT_EQ(argument(many.launches[1], "counter").source, Argument::Source::workspace);
    EXPECT_EQ(argument(many.launches[1], "count").integer, 132);
    // Scratch of the row sums, a slot of x and dy for two rows of each of four groups, and the groups' sums behind
    // them.
    EXPECT_EQ(many.launches[0].shared_bytes, 2 * 4 * 4 * 2 * 4 + 2 * 8 * 1024 * 2 + 4 * 1024 * 4);
    // And dx of two rows of each group for each step that waits.
    const LaunchPlan deferred = plan("rms_norm/backward/bf16/llama/8192x1024", (key + ".d2").c_str());
    EXPECT_EQ(deferred.launches[0].shared_bytes, many.launches[0].shared_bytes + 2 * 8 * 1024 * 2);
    const LaunchPlan one = plan("rms_norm/backward/bf16/llama/1x1024", "w4.t128.r1.row.registers.even.per_row.published");
    ASSERT_EQ(kernels(one), (std::vector<std::string>{"nt_backward", "nt_reduce"}));
    EXPECT_EQ(argument(one.launches[1], "count").integer, 1);
    EXPECT_EQ(one.workspace_bytes, 256 + 1024 * 4);
}

TEST(LaunchPlan, SplitReadsDyBeforeDxIsWrittenOverIt) {
    const LaunchPlan p = plan("rms_norm/backward/bf16/llama/8192x4096/in_place", "w16.t512.r1.row.registers.masked.per_row.split");
    ASSERT_EQ(kernels(p), (std::vector<std::string>{"nt_dgamma", "nt_reduce", "nt_backward"}));
    EXPECT_FALSE(p.launches[1].overlaps);
    EXPECT_EQ(argument(p.launches[2], "dx").tensor, TensorRole::dy);
    EXPECT_EQ(argument(p.launches[2], "dgamma").source, Argument::Source::null);
}

TEST(LaunchPlan, FusedFullBackwardReadsTheSumOfItsForward) {
    const LaunchPlan p = plan("fused_add_rms_norm/full/bf16/llama/256x1024", "w4.t128.r1.row.registers.masked.per_row.atomic");
    ASSERT_EQ(kernels(p), (std::vector<std::string>{"nt_forward", "nt_backward"}));
    EXPECT_EQ(argument(p.launches[0], "x").tensor, TensorRole::x);
    EXPECT_EQ(argument(p.launches[1], "x").tensor, TensorRole::s);
}

TEST(LaunchPlan, WeightlessHasNoDgammaAnywhere) {
    const LaunchPlan p = plan("rms_norm/backward/bf16/llama/256x1024/weightless", "w4.t128.r1.row.registers.masked.per_row");
    EXPECT_EQ(kernels(p), std::vector<std::string>{"nt_backward"});
    EXPECT_EQ(argument(p.launches[0], "gamma").source, Argument::Source::null);
    EXPECT_EQ(argument(p.launches[0], "partials").source, Argument::Source::null);
    EXPECT_EQ(p.workspace_bytes, 0);
}

TEST(Layout, VectorsNarrowWhereRowsDoNotStartAtTheirMultiples) {
    Configuration c = Configuration::parse("w4.t128.r1.row.registers.masked.per_row");
    EXPECT_EQ(row_layout(c, parse_problem_key("rms_norm/forward/bf16/llama/8x4096"), h100()).vector_elements, 8);
    EXPECT_EQ(row_layout(c, parse_problem_key("rms_norm/forward/bf16/llama/8x409"), h100()).vector_elements, 1);
    EXPECT_EQ(row_layout(c, parse_problem_key("rms_norm/forward/bf16/llama/8x512/stride516"), h100()).vector_elements, 4);
    EXPECT_EQ(row_layout(c, parse_problem_key("rms_norm/forward/fp32/llama/8x4096"), h100()).vector_elements, 4);
}

TEST(Limits, ForwardsThatReadTheirRowAgainAndNarrowPackedOnesAreAskedToFillTheDevice) {
    const auto programs = [](const char* problem, const char* configuration, const char* arch = "sm_90") {
        DeviceInfo device = h100();
        device.arch = arch;
        return least_resident_programs(Configuration::parse(configuration), parse_problem_key(problem), device);
    };
    const char* forward = "rms_norm/forward/bf16/llama/4096x8192";
    const char* wide = "rms_norm/forward/bf16/llama/4096x32768";
    EXPECT_EQ(programs(forward, "w16.t512.r1.row.reload.even.per_row"), 4);
    EXPECT_EQ(programs(wide, "w32.t1024.r1.row.reload.even.per_row"), 2);
    EXPECT_EQ(programs(wide, "w16.t512.r1.row.reload.even.per_row"), 2) << "32 words of a row and 16 registers beside them";
    EXPECT_EQ(programs(forward, "w16.t512.r1.row.registers.even.per_row"), 1);
    EXPECT_EQ(programs(forward, "w16.t512.r1.row.reload.even.persistent_strided.p2"), 2);
    EXPECT_EQ(programs("rms_norm/backward/bf16/llama/4096x8192", "w16.t512.r1.row.reload.even.per_row"), 1);
    EXPECT_EQ(programs(forward, "w16.t512.r1.row.reload.even.per_row", "gfx942"), 1);
    const char* narrow = "rms_norm/forward/bf16/llama/32768x128";
    EXPECT_EQ(programs(narrow, "w2.t16.r8.row.registers.even.packed.h2"), 32);
    EXPECT_EQ(programs("fused_add_rms_norm/forward/bf16/llama/32768x128", "w2.t16.r8.row.registers.even.packed.h2"), 25);
    EXPECT_EQ(programs("fused_add_rms_norm/forward/bf16/llama/32768x128/residual_fp32", "w2.t16.r8.row.registers.even.packed.h2"), 1);
    EXPECT_EQ(programs(narrow, "w4.t16.r16.row.registers.even.packed.h2"), 1);
    EXPECT_EQ(programs(narrow, "w2.t8.r16.row.registers.even.packed.h2"), 1) << "two accesses of a thread";
    EXPECT_EQ(programs("rms_norm/backward/bf16/llama/32768x128", "w2.t16.r8.row.registers.even.packed.h2"), 1);
    EXPECT_EQ(programs(narrow, "w2.t16.r8.row.registers.even.packed.h2", "gfx942"), 1);
}

TEST(Limits, NameEachReason) {
    const auto why = [](const char* problem, const char* configuration) {
        return objection(Configuration::parse(configuration), parse_problem_key(problem), h100());
    };
    const char* row = "rms_norm/forward/bf16/llama/4096x8192";
    EXPECT_NE(why(row, "w4.t128.r1.b1024.registers.masked.per_row").find("registers hold one block"), std::string::npos);
    EXPECT_NE(why(row, "w4.t128.r1.b1024.reload.masked.per_row.gamma_before").find("gamma"), std::string::npos);
    EXPECT_NE(why(row, "w4.t128.r4.row.reload.masked.packed.s2").find("reload keeps no row"), std::string::npos);
    EXPECT_NE(why(row, "w4.t128.r1.row.registers.masked.packed.s2").find("no next row"), std::string::npos);
    EXPECT_NE(why(row, "w4.t4.r32.row.registers.masked.packed").find("more than 32 accesses"), std::string::npos);
    EXPECT_NE(why(row, "w32.t128.r16.row.shared.masked.packed.s3").find("shared memory"), std::string::npos);
    EXPECT_NE(why(row, "w32.t1024.r1.row.registers.masked.persistent_strided.p4").find("holds at once"), std::string::npos);
    EXPECT_NE(why(row, "w4.t64.r3.row.registers.masked.packed").find("multiple of those it takes at once"), std::string::npos);
    EXPECT_NE(why("rms_norm/forward/bf16/llama/8x5120", "w4.t128.r1.b2048.reload.even.per_row").find("even"), std::string::npos);
    const char* back = "rms_norm/backward/bf16/llama/65536x4096";
    EXPECT_NE(why(back, "w8.t256.r1.row.registers.masked.per_row.cooperative").find("resident"), std::string::npos);
    EXPECT_NE(why(back, "w8.t256.r1.b2048.reload.masked.per_row.published").find("several blocks"), std::string::npos);
    const char* partials = "w8.t256.r1.row.registers.masked.persistent_strided.d2";
    EXPECT_NE(why(back, partials).find("waits for sums in registers that are published"), std::string::npos);
    EXPECT_NE(why(back, "w8.t256.r1.b2048.reload.masked.persistent_strided.cooperative.d1").find("are published"), std::string::npos);
    DeviceInfo ampere = h100();
    ampere.arch = "sm_80";
    const std::string older =
        objection(Configuration::parse("w8.t256.r1.row.registers.masked.per_row.published"), parse_problem_key(back), ampere);
    EXPECT_NE(older.find("sm_90 or newer"), std::string::npos);
    EXPECT_NE(why("rms_norm/backward/bf16/llama/65536x256", "w1.t32.r1.row.registers.masked.per_row.tile16x16x8").find("tile"),
              std::string::npos);
    EXPECT_NE(why("rms_norm/backward/bf16/llama/8192x16384", "w4.t128.r1.row.registers.masked.persistent_strided")
                  .find("do not fit the registers"),
              std::string::npos);
}

TEST(Limits, RowsAreCountedIn32BitsWhereGridsAreStrided) {
    const auto why = [](const char* configuration) {
        return objection(Configuration::parse(configuration), parse_problem_key("rms_norm/forward/bf16/llama/3000000000x2"), h100());
    };
    const std::string counted = "a program's rows and a strided grid's groups of rows are counted in 32 bits";
    EXPECT_EQ(why("w1.t32.r1.row.registers.masked.persistent_strided"), counted);
    EXPECT_EQ(why("w1.t32.r1.row.registers.masked.persistent_balanced"), counted);
    EXPECT_EQ(why("w4.t32.r4.row.registers.masked.persistent_strided"), "") << "750 million groups of four rows";
    EXPECT_EQ(why("w4.t32.r4.row.registers.masked.persistent_strided.um131"), counted) << "all rows are one program's";
    EXPECT_EQ(why("w1.t32.r1.row.registers.masked.persistent_contiguous"), "");
    EXPECT_EQ(why("w1.t32.r1.row.registers.masked.persistent_contiguous.um131"), counted);
    EXPECT_EQ(why("w1.t32.r1.row.registers.masked.packed"), "more programs than a grid has, or on HIP more threads");
    EXPECT_EQ(why("w1.t32.r2.row.registers.masked.packed"), "") << "a program of each two rows";
}

TEST(Limits, AGridOfHipHasLessThanTwoToThe32Threads) {
    DeviceInfo amd = h100();
    amd.backend = Backend::hip;
    amd.arch = "gfx942";
    amd.warp_size = 64;
    amd.has_async_copy = false;
    const auto why = [](const char* problem, const char* configuration, const DeviceInfo& device) {
        return objection(Configuration::parse(configuration), parse_problem_key(problem), device);
    };
    const char* wavefront = "w1.t64.r1.row.registers.masked.per_row";
    EXPECT_EQ(why("rms_norm/forward/bf16/llama/67108863x64", wavefront, amd), "");
    EXPECT_EQ(why("rms_norm/forward/bf16/llama/67108864x64", wavefront, amd), "more programs than a grid has, or on HIP more threads");
    EXPECT_EQ(why("rms_norm/forward/bf16/llama/134217728x64", "w1.t32.r1.row.registers.masked.per_row", h100()), "")
        << "CUDA counts programs alone";
}

TEST(Limits, AnswerFromTheAxesThatTheyName) {
    // Planning tabulates a limit over its axes alone, sensible combinations or not.
    const SearchSpace space = load_space("default");
    std::mt19937 random(7);
    const auto draw = [&](const AxisValues& axis) { return axis.values[random() % axis.values.size()]; };
    for (const char* key :
         {"rms_norm/forward/bf16/llama/8192x4096", "fused_add_rms_norm/full/fp32/none/3x409", "rms_norm/backward/fp16/gemma/32768x128"}) {
        const Problem problem = parse_problem_key(key);
        for (const BackendLimit& limit : gpu_limits()) {
            for (int i = 0; i < 2000; ++i) {
                Configuration one;
                for (const AxisValues& axis : space.axes) {
                    set_axis(one, axis.axis, draw(axis));
                }
                Configuration other = one;
                for (const AxisValues& axis : space.axes) {
                    if (std::find(limit.axes.begin(), limit.axes.end(), axis.axis) == limit.axes.end()) {
                        set_axis(other, axis.axis, draw(axis));
                    }
                }
                ASSERT_EQ(limit.admits(one, problem, h100()), limit.admits(other, problem, h100()))
                    << limit.name << ' ' << key << ' ' << one.key() << ' ' << other.key();
                for (const AlikeValues& alike : limit.alike) {
                    const int value = axis_value(one, alike.axis);
                    for (const int same : std::ranges::find(space.axes, alike.axis, &AxisValues::axis)->values) {
                        set_axis(other, alike.axis, same);
                        ASSERT_TRUE(alike.as(same) != alike.as(value) ||
                                    limit.admits(one, problem, h100()) == limit.admits(other, problem, h100()))
                            << limit.name << ' ' << key << ' ' << one.key() << ' ' << other.key();
                    }
                    set_axis(other, alike.axis, value);
                }
            }
        }
    }
}

TEST(Limits, HaveNamesOfTheirOwn) {
    std::set<std::string> names;
    for (const BackendLimit& limit : gpu_limits()) {
        EXPECT_TRUE(names.insert(limit.name).second) << limit.name;
        EXPECT_TRUE(limit.name.starts_with("gpu."));
        EXPECT_FALSE(limit.reason.empty());
    }
}

TEST(LaunchPlan, DependentLaunchesAllMayBeginEarly) {
    const std::string c = "w4.t128.r1.row.registers.masked.persistent_strided.gamma_hoisted";
    for (const char* dgamma : {"", ".published", ".atomic", ".split"}) {
        for (const Launch& launch : plan("rms_norm/full/bf16/llama/800x1024", (c + dgamma + ".pdl_on").c_str()).launches) {
            EXPECT_TRUE(launch.overlaps) << dgamma << launch.kernel;
        }
    }
    const Problem problem = parse_problem_key("rms_norm/backward/bf16/llama/800x1024");
    const Configuration on = Configuration::parse(c + ".pdl_on");
    DeviceInfo older = h100();
    older.arch = "sm_80";
    EXPECT_NE(objection(on, problem, older).find("sm_90"), std::string::npos);
    EXPECT_NE(objection(Configuration::parse(c + ".cooperative.pdl_on"), problem, h100()).find("cooperative"), std::string::npos);
}

}  // namespace
}  // namespace normtune::gpu
