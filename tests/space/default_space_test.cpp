#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "devices/registry.h"
#include "space/plan.h"
#include "space/reproducibility.h"
#include "support/sanitized.h"

namespace normtune {
namespace {

// sweep --batch-invariant needs configurations of one class of rows at every M: a rule that leaves some M other ones takes them all away.
TEST(DefaultSpace, HasAClassOfRowsThatServesFewAndManyRows) {
    if (testing::sanitized) {
        GTEST_SKIP() << "what the space holds is the same under a sanitizer, and takes a minute";
    }
    const SearchSpace space = load_space("default");
    const DeviceInfo device = describe_architecture("sm_90");
    struct Family {
        const char* of;
        std::vector<int> cols;
        std::vector<int> rows;
    };
    const std::vector<int> widths{128, 1024, 2048, 2560, 4096, 5120, 12288, 16384};
    const std::vector<int> numbers{4, 64, 1024, 4096, 8192, 65536};
    for (const Family& family :
         {Family{"rms_norm/forward", widths, {1, 128, 8192}}, Family{"rms_norm/backward", widths, {1, 128, 8192}},
          Family{"rms_norm/forward", {128, 512, 1024, 2048, 8192, 16384}, numbers},
          Family{"rms_norm/backward", {128, 512, 1024, 2048, 8192}, numbers}, Family{"fused_add_rms_norm/backward", {16384}, numbers}}) {
        for (const int cols : family.cols) {
            std::set<std::string> common;
            std::string lost_at;
            for (const int rows : family.rows) {
                const Problem problem = parse_problem_key(fmt::format("{}/bf16/llama/{}x{}", family.of, rows, cols));
                std::set<std::string> classes;
                plan_problem(problem, space, backend_traits(device.backend), device, false,
                             [&](const Configuration& c, const RuleTally*) { classes.insert(row_class(c, device.backend)); });
                std::set<std::string> both;
                std::ranges::set_intersection(rows == family.rows.front() ? classes : common, classes, std::inserter(both, both.end()));
                if (both.empty() && lost_at.empty()) {
                    lost_at = fmt::format("{} rows have {}", rows, fmt::join(classes, " "));
                }
                common = std::move(both);
            }
            EXPECT_FALSE(common.empty()) << family.of << " of " << cols << " columns: " << lost_at;
        }
    }
}

struct Bounds {
    const char* space;
    const char* architecture;
    std::size_t most;
};

class ShippedSpace : public ::testing::TestWithParam<Bounds> {};

// Rows that are no multiple of 16 bytes, too wide for a program, or without gamma: each rule takes what a later one would have kept, and
// where one takes all that is left, it is lifted with all it would have taken elsewhere.
TEST_P(ShippedSpace, HasSomeOfEveryShapeAndNotThousands) {
    if (testing::sanitized) {
        GTEST_SKIP() << "what the space holds is the same under a sanitizer, and takes a minute";
    }
    const SearchSpace space = load_space(GetParam().space);
    const DeviceInfo device = describe_architecture(GetParam().architecture);
    for (const std::string_view of :
         {"rms_norm/forward", "fused_add_rms_norm/forward", "rms_norm/backward", "fused_add_rms_norm/backward"}) {
        for (const std::string_view more : {"bf16/llama/{}x{}", "fp32/llama/{}x{}", "bf16/llama/{}x{}/weightless"}) {
            for (const int rows : {1, 8192}) {
                for (const int cols : {1001, 4098, 5001, 8193, 14338, 16385, 32770, 65537, 131072, 200002}) {
                    const std::string key = fmt::format("{}/{}", of, fmt::format(fmt::runtime(more), rows, cols));
                    const std::size_t kept =
                        plan_problem(parse_problem_key(key), space, backend_traits(device.backend), device, false, {}).kept;
                    EXPECT_GT(kept, 0U) << key;
                    EXPECT_LT(kept, GetParam().most) << key;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shipped, ShippedSpace,
                         ::testing::Values(Bounds{"default", "sm_90", 1000}, Bounds{"default", "sm_120", 1000},
                                           Bounds{"quick", "sm_80", 64}, Bounds{"quick", "sm_90", 64}, Bounds{"quick", "sm_120", 64},
                                           Bounds{"quick", "gfx942", 64}),
                         [](const auto& given) { return fmt::format("{}_{}", given.param.space, given.param.architecture); });

// Of the best of sweeps of wider spaces (results/h100: forward_clusters, gamma_before, forward_short, forward_reload, backward_narrow,
// backward_vectors, wide_rows; results/h200: evict_last, kept_rows_wide, backward_fifths, backward_hints, beside_hints, forward_ahead,
// forward_fifths, incoming_ds, forward_stages, beside_wider, beside_widest).
TEST(DefaultSpace, HasWhatWiderSpacesFound) {
    if (testing::sanitized) {
        GTEST_SKIP() << "what the space holds is the same under a sanitizer, and takes a minute";
    }
    const SearchSpace space = load_space("default");
    const DeviceInfo device = describe_architecture("sm_90");
    const std::string kept = ".gamma_hoisted.ld_cg.st_evict_last";
    const std::string cooperative = kept + ".s2.cooperative.tile256x32x16";
    const std::vector<std::pair<std::string, std::string>> found{
        {"forward/bf16/llama/1024x65536", "w8.t256.r1.row.shared.even.per_row.gamma_before.ld_cg.c8"},
        {"forward/bf16/llama/256x262144", "w8.t256.r1.row.shared.even.per_row.gamma_before.ld_cg.c16"},
        {"forward/bf16/llama/128x128", "w4.t16.r8.row.registers.even.packed.gamma_before"},
        {"forward/bf16/llama/2048x512", "w4.t16.r8.row.registers.even.packed.gamma_before.ld_streaming"},
        {"forward/bf16/llama/8192x5120", "w16.t512.r1.row.registers.masked.per_row.gamma_before.v8.ld_streaming.st_streaming"},
        {"forward/bf16/llama/8192x4096", "w8.t256.r1.row.registers.even.per_row.gamma_before.ld_evict_last"},
        {"forward/bf16/llama/65536x256", "w4.t16.r16.row.registers.even.packed.gamma_before.ld_evict_last.st_streaming.h2"},
        {"forward/bf16/llama/4096x32768", "w8.t256.r1.row.shared.even.per_row.gamma_before.ld_evict_last.c4"},
        {"forward/bf16/llama/8192x8192", "w4.t128.r1.row.registers.even.per_row.gamma_before.ld_evict_last.c2"},
        {"forward/bf16/llama/8192x5120", "w8.t256.r1.row.registers.even.per_row.gamma_before.v8.ld_evict_last"},
        {"forward/bf16/llama/8192x1024",
         "w4.t128.r4.row.registers.even.persistent_strided.p4.gamma_hoisted.ld_evict_last.st_streaming.s3.h4"},
        {"forward/bf16/llama/512x131072", "w8.t256.r1.row.registers.even.persistent_strided.p2.gamma_hoisted.ld_evict_last.s3.c16"},
        {"forward/bf16/llama/256x262144", "w8.t256.r1.row.registers.even.persistent_strided.gamma_hoisted.ld_evict_last.s3.c8"},
        {"fused_add_rms_norm/forward/bf16/llama/256x262144",
         "w8.t256.r1.row.registers.even.persistent_strided.gamma_hoisted.ld_evict_last.s4.c16.tma_loads"},
        {"fused_add_rms_norm/backward/bf16/llama/256x262144",
         "w8.t256.r1.row.shared.even.persistent_strided" + kept + ".s3.tile16x256x4.c16.ds_direct"},
        {"backward/bf16/llama/8192x5120",
         "w16.t256.r2.row.registers.even.persistent_strided.gamma_hoisted.v8.ld_cg.st_evict_last.s3.cooperative.tile256x32x16"},
        {"backward/bf16/llama/1024x3072", "w4.t128.r1.row.registers.masked.per_row.gamma_before.beside.parts8.pc8"},
        {"backward/bf16/llama/3072x1536", "w4.t128.r1.row.registers.masked.per_row.gamma_before.beside.parts16.pc8"},
        {"backward/bf16/llama/768x2048", "w8.t256.r1.row.registers.even.per_row.gamma_before.v8.beside.parts8.pc8"},
        {"backward/bf16/llama/922x5120", "w8.t256.r1.row.registers.masked.per_row.gamma_before.beside.tile64x128x4.parts4.pc4"},
        {"backward/bf16/llama/1024x8192", "w4.t128.r1.row.registers.even.per_row.gamma_before.beside.tile128x64x4.c2"},
        {"backward/bf16/llama/614x10240", "w8.t256.r1.row.registers.masked.per_row.gamma_before.beside.tile64x128x4.c2"},
        {"backward/bf16/llama/512x16384", "w4.t128.r1.row.registers.even.per_row.gamma_before.beside.c4"},
        {"backward/bf16/llama/512x32768", "w4.t128.r1.row.registers.even.per_row.gamma_before.beside.tile32x128x4.c8"},
        {"backward/bf16/llama/128x65536", "w4.t128.r1.row.registers.even.per_row.gamma_before.beside.tile32x128x4.c16"},
        {"backward/bf16/llama/128x4096", "w8.t256.r1.row.registers.even.per_row.gamma_before.v8.ld_streaming.beside.tile128x64x4"},
        {"backward/bf16/llama/4096x32768", "w8.t256.r1.row.shared.even.persistent_strided.p2" + kept + ".s3.published.tile32x128x4.c8"},
        {"backward/bf16/llama/32768x128",
         "w16.t16.r64.row.registers.even.persistent_strided.gamma_hoisted.ld_evict_last.st_streaming.s2.cooperative.tile256x32x16.h2.d2"},
        {"backward/bf16/llama/2048x128", "w8.t32.r16.row.registers.even.packed.gamma_before.v8.beside.tile256x16x4.parts8.pc8.h2"},
        {"backward/bf16/llama/2048x512", "w8.t64.r8.row.registers.even.packed.gamma_before.beside.tile256x64x4.parts8.pc8.h2"},
        {"backward/bf16/llama/32768x128", "w16.t16.r64.row.registers.even.persistent_strided" + cooperative + ".h2.d2"},
        {"backward/bf16/llama/524288x128", "w16.t16.r64.row.registers.even.persistent_balanced" + cooperative + ".h2.d4"},
        {"backward/bf16/llama/8192x2560", "w16.t128.r4.row.registers.masked.persistent_strided" + cooperative + ".d4"},
        {"backward/bf16/llama/8192x8192", "w16.t512.r1.row.registers.even.persistent_strided" + kept + ".s3.published.tile256x32x8.c2"},
        {"backward/bf16/llama/512x16384", "w8.t256.r1.row.registers.even.persistent_strided.p2" + kept + ".s3.published.tile64x64x8.c8"}};
    for (const auto& [problem, key] : found) {
        bool has = false;
        plan_problem(parse_problem_key(problem.starts_with("fused") ? problem : "rms_norm/" + problem), space,
                     backend_traits(device.backend), device, false,
                     [&](const Configuration& c, const RuleTally* by) { has = has || (by == nullptr && c.key() == key); });
        EXPECT_TRUE(has) << problem << " " << key;
    }
}

// A rule that leaves nothing where nobody looked is lifted there, and what it took comes back.
TEST(DefaultSpace, IsSmallForWidthsThatNoShippedModelHas) {
    if (testing::sanitized) {
        GTEST_SKIP() << "what the space holds is the same under a sanitizer, and takes a minute";
    }
    const SearchSpace space = load_space("default");
    const DeviceInfo device = describe_architecture("sm_90");
    std::size_t all = 0;
    std::size_t problems = 0;
    for (const char* mode : {"forward", "backward"}) {
        for (const int cols : {384, 1152, 1792, 3584, 6400, 9216, 11264, 12288, 14336, 15360, 22528}) {
            const Problem problem = parse_problem_key(fmt::format("rms_norm/{}/bf16/llama/1024x{}", mode, cols));
            const auto kept = plan_problem(problem, space, backend_traits(device.backend), device, false, {}).kept;
            EXPECT_LE(kept, 125U) << fmt::format("{}, {} columns", mode, cols);
            all += kept;
            ++problems;
        }
    }
    for (const char* of : {"rms_norm/backward", "fused_add_rms_norm/backward"}) {
        for (const int rows : {1, 4, 200}) {
            for (const int cols : {8200, 16384, 65536, 262144}) {
                const Problem problem = parse_problem_key(fmt::format("{}/bf16/llama/{}x{}", of, rows, cols));
                EXPECT_LE(plan_problem(problem, space, backend_traits(device.backend), device, false, {}).kept, 125U)
                    << fmt::format("{}, {} rows of {} columns", of, rows, cols);
            }
        }
    }
    for (const char* of : {"rms_norm/backward", "rms_norm/full", "fused_add_rms_norm/backward", "fused_add_rms_norm/full"}) {
        for (const char* dtype : {"bf16", "fp32"}) {
            const Problem problem = parse_problem_key(fmt::format("{}/{}/llama/1024x262144", of, dtype));
            EXPECT_LE(plan_problem(problem, space, backend_traits(device.backend), device, false, {}).kept, 125U) << problem.key();
        }
    }
    EXPECT_LE(all, 60 * problems);
}

}  // namespace
}  // namespace normtune
