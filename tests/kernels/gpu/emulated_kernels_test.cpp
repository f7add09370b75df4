#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/gpu/emulated_device.h"
#include "kernels/gpu/launch_plan.h"
#include "support/sanitized.h"
#include "trial/kernel_folder.h"
#include "verify/verifier.h"

namespace normtune {
namespace {

struct Case {
    int warp_size;
    const char* problem;
    const char* configuration;
};

class EmulatedKernels : public ::testing::TestWithParam<Case> {};

TEST_P(EmulatedKernels, ComputeWhatTheOracleSays) {
    testing::EmulatedDevice device(GetParam().warp_size);
    Verifier verifier(device, parse_problem_key(GetParam().problem), 7);
    const Verification verification = verifier.verify(Configuration::parse(GetParam().configuration));
    EXPECT_TRUE(verification.passed) << verification.reason;
    EXPECT_FALSE(verification.shapes.empty());
}

// Each axis's values and each option at least once, on rows that no tile divides. Warps of 64 have no asynchronous
// copies, so rows ahead wait in registers there.
constexpr Case cases[] = {
    {32, "rms_norm/forward/bf16/llama/7x96", "w2.t64.r1.row.registers.masked.per_row"},
    {32, "rms_norm/forward/fp32/none/9x200/stride264", "w4.t32.r8.row.registers.where.packed.gamma_before.h2"},
    {32, "rms_norm/forward/fp16/gemma/33x64/offset1/w_fp32", "w2.t8.r16.row.shared.guard.persistent_strided.runtime.gamma_hoisted.s3.h2"},
    {32, "rms_norm/forward/bf16/none/5x1000/weightless", "w2.t32.r2.b256.reload.guard.packed.runtime.v8.o64"},
    {32, "fused_add_rms_norm/forward/bf16/llama/11x128", "w1.t16.r6.row.registers.even.packed.runtime.gamma_hoisted.s2"},
    {32, "fused_add_rms_norm/forward/bf16/gemma/6x512/residual_fp32",
     "w2.t64.r1.b512.shared.masked.persistent_contiguous.gamma_hoisted.s2"},
    {32, "fused_add_rms_norm/forward/fp16/llama/6x768", "w2.t64.r2.b512.reload.masked.persistent_contiguous.runtime"},
    // Inference, over its inputs too: rows kept, kept in shared memory with the next ones on their way, and read twice.
    {32, "rms_norm/inference/bf16/llama/7x96/stride104", "w2.t64.r1.row.registers.masked.per_row"},
    {32, "rms_norm/inference/fp16/none/9x200/in_place", "w4.t32.r8.row.reload.where.packed.gamma_before.h2"},
    {32, "fused_add_rms_norm/inference/bf16/llama/11x128/in_place", "w1.t16.r6.row.registers.even.packed.runtime.gamma_hoisted.s2"},
    {32, "fused_add_rms_norm/inference/bf16/gemma/6x512/in_place/residual_fp32",
     "w2.t64.r1.b512.shared.masked.persistent_contiguous.gamma_hoisted.s2"},
    {32, "fused_add_rms_norm/inference/fp16/llama/6x768/in_place", "w2.t64.r2.b512.reload.masked.persistent_contiguous.runtime"},
    {32, "fused_add_rms_norm/inference/bf16/llama/6x4104/in_place",
     "w1.t32.r1.row.shared.guard.persistent_strided.p2.gamma_hoisted.s2.c16.pdl_on"},
    {64, "fused_add_rms_norm/inference/fp32/gemma/9x96/in_place", "w1.t16.r8.row.registers.masked.persistent_strided.runtime.s3"},
    {32, "rms_norm/backward/bf16/llama/13x96", "w2.t16.r4.row.registers.masked.persistent_strided.runtime.gamma_hoisted.s2.tile32x8x2"},
    {32, "rms_norm/backward/bf16/gemma/21x512/in_place",
     "w2.t64.r1.row.shared.even.persistent_strided.runtime.p2.gamma_hoisted.s3.cooperative.tile16x32x2"},
    {32, "rms_norm/backward/fp32/gemma/23x192/w_fp32",
     "w2.t16.r8.row.registers.masked.persistent_strided.gamma_hoisted.s2.published.tile16x32x2.h2"},
    {32, "rms_norm/backward/bf16/llama/29x200/in_place",
     "w4.t64.r2.row.registers.masked.persistent_strided.gamma_hoisted.s2.cooperative.tile16x32x1.d3"},
    {32, "rms_norm/backward/bf16/llama/41x200",
     "w2.t64.r1.row.registers.masked.persistent_balanced.p2.gamma_hoisted.s2.cooperative.tile16x32x1"},
    {64, "fused_add_rms_norm/backward/bf16/llama/37x96", "w1.t16.r4.row.registers.masked.persistent_balanced.runtime.p2.tile16x16x1"},
    {32, "rms_norm/backward/fp16/none/9x128/offset1", "w2.t32.r4.row.registers.where.persistent_contiguous.gamma_before.atomic.h2"},
    {32, "rms_norm/backward/fp32/llama/17x520/stride600", "w2.t32.r2.b256.reload.masked.packed.runtime.tile16x16x2"},
    {32, "rms_norm/backward/bf16/llama/18x640", "w1.t32.r1.b256.shared.guard.persistent_strided.runtime.s2.atomic"},
    {32, "fused_add_rms_norm/backward/bf16/llama/19x72/w_fp32", "w1.t4.r8.row.reload.guard.packed.split.tile16x8x1"},
    {32, "fused_add_rms_norm/backward/bf16/none/5x100/weightless", "w2.t64.r1.row.registers.masked.per_row"},
    {32, "rms_norm/full/bf16/llama/10x128", "w1.t8.r4.row.registers.even.persistent_contiguous.runtime.tile16x16x2"},
    {32, "fused_add_rms_norm/full/bf16/gemma/6x192/in_place", "w2.t32.r2.row.shared.masked.packed.runtime.split.tile8x16x1"},
    // Clusters: rows that none of their programs, or not all of them, divide; blocks; tiles; each way of dgamma that they have.
    {32, "rms_norm/forward/bf16/llama/5x1000", "w1.t32.r1.row.registers.masked.per_row.gamma_before.c4"},
    {32, "rms_norm/forward/fp32/gemma/7x384/stride400", "w2.t64.r4.row.registers.where.packed.gamma_hoisted.s3.h2.c2"},
    {32, "fused_add_rms_norm/forward/bf16/llama/6x4104", "w1.t32.r1.row.shared.guard.persistent_strided.p2.gamma_hoisted.s2.c16"},
    {32, "fused_add_rms_norm/forward/fp16/none/5x2048/residual_fp32", "w1.t32.r1.b1024.reload.even.packed.runtime.c4"},
    {32, "rms_norm/backward/bf16/llama/13x1160", "w2.t64.r1.row.registers.masked.persistent_strided.p2.gamma_hoisted.s2.tile16x32x2.c2"},
    {32, "rms_norm/backward/bf16/gemma/11x520/in_place",
     "w1.t32.r1.row.shared.guard.persistent_contiguous.p4.gamma_hoisted.s3.published.tile16x32x2.c2"},
    {32, "fused_add_rms_norm/backward/bf16/llama/9x2048/w_fp32", "w1.t32.r1.row.registers.even.per_row.published.tile16x32x2.c8"},
    {32, "fused_add_rms_norm/backward/fp32/none/14x1200",
     "w1.t32.r2.row.registers.masked.persistent_strided.runtime.p8.s2.published.tile16x32x2.h2.d1.c4"},
    {32, "rms_norm/full/fp16/llama/10x3000/offset1", "w2.t64.r2.b1024.shared.masked.persistent_strided.p4.tile16x16x2.c2"},
    {32, "rms_norm/backward/bf16/none/5x900/weightless", "w1.t32.r1.row.reload.masked.packed.c2"},
    {32, "rms_norm/backward/bf16/llama/9x1500", "w1.t32.r3.row.registers.masked.packed.split.tile16x32x2.c4"},
    // Rows side by side over clusters: a group each of a row's warps, or several; absent rows; held at once; each way of dgamma.
    {32, "rms_norm/forward/bf16/llama/13x1000", "w4.t32.r4.row.registers.masked.packed.gamma_before.c4"},
    {32, "fused_add_rms_norm/forward/fp32/gemma/27x1160", "w4.t64.r2.row.shared.masked.persistent_strided.p2.gamma_hoisted.s2.c2"},
    {32, "rms_norm/backward/bf16/llama/29x1160",
     "w4.t64.r2.row.registers.masked.persistent_strided.p2.gamma_hoisted.s2.published.tile16x32x2.c2"},
    {32, "fused_add_rms_norm/backward/fp16/none/43x2048",
     "w4.t32.r8.row.registers.even.persistent_strided.p2.gamma_hoisted.s3.published.tile16x32x2.h2.d1.c4"},
    {32, "rms_norm/backward/bf16/llama/21x1152/w_fp32", "w4.t64.r2.row.registers.masked.packed.v8.beside.tile32x32x2.c4"},
    {32, "rms_norm/backward/bf16/llama/17x2000", "w8.t64.r4.row.registers.masked.persistent_contiguous.split.tile16x32x2.c4"},
    {32, "rms_norm/full/bf16/gemma/14x3000", "w4.t64.r2.b1024.shared.masked.persistent_strided.p4.tile16x16x2.c2"},
    // A cooperative launch of clusters: sums published, by each of the last programs; sums in memory.
    {32, "rms_norm/backward/bf16/llama/59x1160",
     "w4.t64.r2.row.registers.masked.persistent_strided.p2.gamma_hoisted.s2.cooperative.tile16x32x4.d1.c2"},
    {32, "fused_add_rms_norm/backward/bf16/llama/9x2048", "w1.t32.r1.row.registers.even.persistent_strided.p2.cooperative.tile16x32x1.c4"},
    {32, "rms_norm/backward/bf16/llama/14x3000", "w2.t64.r1.b1024.shared.masked.persistent_strided.p2.cooperative.tile16x16x2.c2"},
    // 32, 128 and 256 parts of a sum.
    {32, "rms_norm/forward/bf16/llama/3x8000", "w4.t128.r1.row.registers.masked.per_row.c8"},
    {32, "rms_norm/backward/bf16/llama/2x31000", "w8.t256.r1.row.registers.masked.per_row.tile16x32x2.c16"},
    {32, "rms_norm/forward/fp32/llama/2x31000", "w16.t512.r1.row.registers.masked.per_row.c16"},
    // Bulk copies: rows that leave pieces of their slot empty; side by side, the last ones absent; held at once, apart in memory; blocks;
    // clusters.
    {32, "rms_norm/forward/bf16/llama/13x1000", "w2.t64.r1.row.registers.masked.persistent_strided.gamma_hoisted.s2.tma_loads"},
    {32, "rms_norm/forward/fp32/none/17x512", "w4.t128.r1.row.shared.even.persistent_contiguous.s2.tma_loads"},
    {32, "rms_norm/forward/bf16/gemma/29x1000", "w2.t64.r1.row.shared.guard.persistent_strided.gamma_hoisted.s3.tma"},
    {32, "rms_norm/forward/fp16/llama/23x512", "w4.t64.r2.row.shared.even.persistent_strided.s2.tma"},
    {32, "rms_norm/forward/bf16/llama/43x256", "w4.t32.r8.row.registers.masked.persistent_strided.runtime.gamma_hoisted.s3.h2.tma_loads"},
    {32, "rms_norm/forward/bf16/llama/45x512", "w4.t64.r8.row.shared.even.packed.s2.h2.tma"},
    {32, "rms_norm/forward/bf16/none/19x512/stride520", "w2.t64.r4.row.shared.masked.packed.s3.h2.tma"},
    {32, "fused_add_rms_norm/forward/bf16/llama/17x1000", "w2.t64.r1.row.shared.where.persistent_strided.gamma_hoisted.s3.tma"},
    {32, "fused_add_rms_norm/forward/bf16/gemma/23x256/residual_fp32", "w2.t32.r2.row.shared.even.persistent_strided.s2.tma"},
    {32, "fused_add_rms_norm/inference/bf16/llama/17x1000/in_place", "w2.t64.r1.row.shared.where.persistent_strided.gamma_hoisted.s3.tma"},
    {32, "fused_add_rms_norm/forward/bf16/llama/15x512", "w2.t64.r1.row.shared.masked.persistent_strided.s2.tma_loads.pdl_on"},
    {32, "rms_norm/backward/bf16/gemma/21x512/in_place",
     "w2.t64.r1.row.shared.even.persistent_strided.gamma_hoisted.s3.cooperative.tile16x32x2.tma"},
    {32, "rms_norm/backward/bf16/llama/29x200",
     "w1.t32.r1.row.registers.masked.persistent_strided.gamma_hoisted.s2.published.tile16x32x2.d1.tma_loads"},
    {32, "rms_norm/backward/fp16/none/27x512", "w4.t64.r2.row.shared.even.persistent_strided.s2.tile16x32x2.tma"},
    {32, "fused_add_rms_norm/backward/bf16/llama/19x520/w_fp32", "w2.t64.r1.row.shared.masked.persistent_contiguous.s2.atomic.tma"},
    {32, "rms_norm/full/fp16/llama/20x3000/offset1", "w2.t64.r1.b1024.shared.masked.persistent_strided.s2.tile16x16x2.tma"},
    {32, "rms_norm/backward/bf16/llama/16x520", "w2.t64.r2.row.shared.masked.packed.s2.beside.tile32x32x2.tma"},
    {32, "fused_add_rms_norm/forward/bf16/llama/11x4104", "w1.t32.r1.row.shared.guard.persistent_strided.p4.gamma_hoisted.s3.c4.tma"},
    {32, "rms_norm/forward/bf16/llama/9x2048/stride2080", "w2.t64.r4.row.registers.even.packed.s2.h2.c2.tma_loads"},
    {32, "rms_norm/backward/bf16/llama/13x1160",
     "w2.t64.r1.row.shared.masked.persistent_strided.p2.gamma_hoisted.s2.published.tile16x32x2.c2.tma"},
    // dgamma by programs beside those of dx.
    {32, "rms_norm/backward/bf16/llama/16x520", "w2.t64.r1.row.registers.masked.per_row.gamma_before.beside.tile32x32x2"},
    {64, "fused_add_rms_norm/backward/fp16/none/37x200/w_fp32", "w2.t32.r4.row.shared.masked.packed.beside.tile32x16x1"},
    {32, "rms_norm/backward/bf16/llama/70x128", "w8.t32.r8.row.registers.even.packed.gamma_before.v8.beside.tile512x8x4"},
    {32, "fused_add_rms_norm/backward/bf16/llama/333x256", "w2.t64.r1.row.registers.even.per_row.gamma_before.v8.beside.tile256x16x4"},
    {64, "rms_norm/backward/fp16/gemma/77x96", "w2.t32.r4.row.registers.masked.packed.gamma_before.beside.tile64x8x4"},
    // And by parts of the rows: through memory, in a cluster, in clusters and through memory.
    {32, "rms_norm/backward/bf16/llama/70x128", "w8.t32.r8.row.registers.even.packed.gamma_before.v8.beside.tile64x16x4.parts8"},
    {64, "fused_add_rms_norm/backward/fp16/none/37x200/w_fp32", "w2.t32.r4.row.shared.masked.packed.beside.tile32x16x1.parts4"},
    {32, "fused_add_rms_norm/backward/bf16/llama/333x256",
     "w2.t64.r2.row.registers.even.packed.gamma_before.v8.beside.tile64x32x4.parts16.h2"},
    {32, "rms_norm/backward/bf16/llama/70x128", "w8.t32.r8.row.registers.even.packed.gamma_before.v8.beside.tile64x16x4.parts8.pc8"},
    {32, "fused_add_rms_norm/backward/bf16/gemma/29x1160", "w2.t64.r1.row.registers.masked.per_row.beside.tile32x64x4.parts4.pc4"},
    {32, "rms_norm/backward/fp16/none/45x409", "w2.t64.r1.row.registers.masked.per_row.beside.tile16x16x4.parts16.pc4"},
    {32, "rms_norm/backward/fp32/llama/61x96/w_fp32", "w1.t32.r2.row.shared.masked.packed.s2.beside.tile16x8x1.parts4.pc2"},
    {32, "rms_norm/backward/bf16/llama/16x520", "w2.t64.r2.row.shared.masked.packed.s2.beside.tile32x32x2.parts4.pc2.tma"},
    {32, "rms_norm/full/bf16/llama/90x128", "w4.t16.r8.row.registers.even.packed.beside.tile64x16x4.parts8.pc8.pdl_on"},
    // A grid of 132 programs for the rows, which programs beside fill up to whole clusters.
    {32, "rms_norm/backward/bf16/llama/301x520",
     "w2.t64.r1.row.registers.masked.persistent_strided.gamma_hoisted.s2.beside.tile32x32x2.parts8.pc8"},
    // And beside clusters, each with a row of dx: one access, several, of shared memory, of bulk copies, parts of dgamma's rows, of which
    // two programs fill a cluster up. One cluster has all of dgamma.
    {32, "rms_norm/backward/bf16/llama/13x1152", "w2.t64.r1.row.registers.masked.per_row.gamma_before.v8.beside.tile32x32x2.c4"},
    {32, "fused_add_rms_norm/backward/bf16/gemma/9x2040/w_fp32", "w1.t32.r1.row.shared.masked.per_row.beside.tile32x64x1.c4"},
    {32, "rms_norm/backward/bf16/llama/13x1160", "w2.t64.r1.row.registers.masked.per_row.gamma_before.v8.beside.tile16x32x2.parts2.c4"},
    {32, "rms_norm/full/fp16/none/10x3000/offset1", "w2.t64.r2.row.registers.masked.packed.beside.tile32x128x2.c4.pdl_on"},
    {32, "rms_norm/backward/bf16/llama/17x1152", "w2.t64.r1.row.shared.masked.persistent_strided.p2.s2.beside.tile32x32x2.c2.tma"},
    {32, "rms_norm/backward/bf16/llama/1x2048", "w1.t32.r1.row.registers.even.per_row.gamma_before.tile64x32x8.c8"},
    // Dependent launches, each with what runs behind it in the op.
    {32, "rms_norm/forward/bf16/llama/7x96", "w2.t64.r1.row.registers.masked.per_row.pdl_on"},
    {32, "rms_norm/full/bf16/llama/23x192",
     "w2.t16.r8.row.registers.masked.persistent_strided.gamma_hoisted.s2.published.tile16x32x2.pdl_on"},
    {32, "fused_add_rms_norm/full/bf16/gemma/6x192/in_place", "w2.t32.r2.row.shared.masked.packed.split.tile8x16x1.pdl_on"},
    {64, "rms_norm/forward/bf16/llama/9x96", "w1.t16.r8.row.registers.masked.persistent_strided.runtime.s3"},
    {64, "rms_norm/backward/bf16/llama/15x512",
     "w2.t64.r4.row.registers.even.persistent_strided.runtime.gamma_hoisted.s2.cooperative.tile16x32x2"},
    {64, "fused_add_rms_norm/backward/bf16/llama/61x192",
     "w2.t32.r8.row.registers.guard.persistent_strided.runtime.gamma_hoisted.cooperative.tile32x16x2.h2.d1"},
    {64, "rms_norm/backward/fp16/gemma/14x192", "w2.t128.r1.row.registers.guard.persistent_contiguous.runtime.s3.atomic"},
    {64, "fused_add_rms_norm/full/bf16/none/9x64", "w2.t32.r4.row.shared.where.packed.gamma_hoisted.tile32x8x1"},
};

/// Under a sanitizer, which sees neither kernels nor machine, one in six: they are launched and verified alike.
std::vector<Case> some_cases() {
    std::vector<Case> out;
    for (std::size_t i = 0; i < std::size(cases); i += testing::sanitized ? 6 : 1) {
        out.push_back(cases[i]);
    }
    return out;
}

INSTANTIATE_TEST_SUITE_P(Space, EmulatedKernels, ::testing::ValuesIn(some_cases()),
                         [](const auto& given) { return "case_" + std::to_string(given.index); });

// Rows that the kernel writes over are never read through the read-only path: without it, in place computes the same.
TEST(EmulatedInPlace, ReadsNoRowThroughTheReadOnlyPath) {
    for (const char* op : {"rms_norm", "fused_add_rms_norm"}) {
        for (const char* residency : {"registers", "reload"}) {
            for (const char* in_place : {"", "/in_place"}) {
                const Problem problem = parse_problem_key(fmt::format("{}/inference/bf16/llama/5x128{}", op, in_place));
                testing::EmulationOptions options;
                options.supports = [&](const Shape& shape) { return shape == problem.shape; };
                options.edit = [](std::string source) {
                    const std::string path = "nt_load_if<Constant>(v, address(input, row, access), inside);";
                    const std::size_t at = source.find(path);
                    EXPECT_NE(at, std::string::npos);
                    return source.erase(at, path.size());
                };
                testing::EmulatedDevice device(32, options);
                const auto configuration = Configuration::parse(fmt::format("w1.t32.r1.row.{}.masked.per_row", residency));
                EXPECT_EQ(Verifier(device, problem, 7).verify(configuration).passed, problem.operation.in_place)
                    << problem.key() << residency;
            }
        }
    }
}

class EmulatedManifests : public ::testing::TestWithParam<Case> {};

// As emit writes it and --candidate reads it: the launches that the file tells of compute the same, on the one shape that they are for.
TEST_P(EmulatedManifests, LaunchWhatTheFileSays) {
    testing::EmulatedDevice device(GetParam().warp_size);
    LaunchManifest written;
    written.problem = parse_problem_key(GetParam().problem);
    written.key = GetParam().configuration;
    written.arch = device.info().arch;
    written.plan = gpu::launch_plan(Configuration::parse(written.key), written.problem, device.info());
    const nlohmann::json file = nlohmann::json::parse(to_json(written).dump());
    auto manifest = std::make_shared<LaunchManifest>(read_launch_manifest(JsonReader(file, "launch.json: ")));
    manifest->provider = "kernel";
    const Verification verification = Verifier(device, written.problem, 7).verify(Candidate(manifest));
    EXPECT_TRUE(verification.passed) << verification.reason;
    ASSERT_EQ(verification.shapes.size(), 1U);
    EXPECT_EQ(verification.shapes[0].shape, written.problem.shape);
}

constexpr Case manifests[] = {
    {32, "fused_add_rms_norm/inference/fp16/llama/6x768/in_place", "w2.t64.r2.b512.reload.masked.persistent_contiguous.runtime"},
    {32, "fused_add_rms_norm/forward/bf16/gemma/6x512/residual_fp32",
     "w2.t64.r1.b512.shared.masked.persistent_contiguous.gamma_hoisted.s2"},
    {32, "rms_norm/backward/bf16/gemma/21x512/in_place",
     "w2.t64.r1.row.shared.even.persistent_strided.runtime.p2.gamma_hoisted.s3.cooperative.tile16x32x2"},
    {32, "fused_add_rms_norm/full/bf16/gemma/6x192/in_place", "w2.t32.r2.row.shared.masked.packed.runtime.split.tile8x16x1"},
    {32, "rms_norm/backward/bf16/llama/13x1160", "w2.t64.r1.row.registers.masked.persistent_strided.p2.gamma_hoisted.s2.tile16x32x2.c2"},
    {64, "fused_add_rms_norm/full/bf16/none/9x64", "w2.t32.r4.row.shared.where.packed.gamma_hoisted.tile32x8x1"},
};
INSTANTIATE_TEST_SUITE_P(Files, EmulatedManifests, ::testing::ValuesIn(manifests));

// The example's kernel, as launch.json launches it: whole programs and tails, each of its tunables.
TEST(EmulatedFolders, TheExampleComputesWhatTheOracleSays) {
    const auto folder = KernelFolder::load(NORMTUNE_SOURCE_DIR "/examples/cuda_forward");
    testing::EmulatedDevice device(32);
    std::set<std::string> seen;
    for (const char* key : {"rms_norm/forward/bf16/llama/3x1024", "rms_norm/forward/bf16/llama/5x1160/stride1176"}) {
        const Problem problem = parse_problem_key(key);
        for (const auto& manifest : folder->plan(problem, device.info()).kept) {
            const Candidate candidate(manifest);
            const Verification verification = Verifier(device, problem, 7).verify(candidate);
            EXPECT_TRUE(verification.passed) << key << ' ' << candidate.identity() << ": " << verification.reason;
            for (const auto& [name, value] : tunables_of(candidate.key())) {
                seen.insert(name + '=' + value);
            }
        }
    }
    EXPECT_EQ(seen.size(), 9U) << "of THREADS 64 to 512, VECTOR 2, 4, 8, KEEP 0 and 1";
}

}  // namespace
}  // namespace normtune
