// The bits of the GPU kernels' rows, emulated: classes are what the table of axes says, and a kernel that breaks them is told.
#include <gtest/gtest.h>

#include "kernels/gpu/emulated_device.h"
#include "space/reproducibility.h"
#include "verify/bits.h"

namespace normtune {
namespace {

BitsCheck compare(const char* configuration, const char* problem, testing::EmulationOptions options = {}) {
    testing::EmulatedDevice device(32, std::move(options));
    return BitsComparer(device, parse_problem_key(problem)).compare(Configuration::parse(configuration));
}

constexpr const char* forward = "fused_add_rms_norm/forward/fp32/llama/5x200";
constexpr const char* backward = "rms_norm/backward/bf16/gemma/6x256/in_place";

TEST(EmulatedBits, AreThoseOfTheClassWhateverElseAConfigurationDecides) {
    const Configuration one = Configuration::parse("w1.t16.r2.row.registers.masked.packed");
    const Configuration other = Configuration::parse("w2.t16.r8.row.shared.guard.persistent_strided.runtime.gamma_hoisted.s2");
    ASSERT_EQ(row_class(one, Backend::cuda), row_class(other, Backend::cuda));
    const BitsCheck bits = compare(one.key().c_str(), forward);
    EXPECT_EQ(bits.rows_differ, "");
    ASSERT_NE(bits.row_bits, "");
    EXPECT_EQ(compare(other.key().c_str(), forward).row_bits, bits.row_bits);
}

TEST(EmulatedBits, AreOthersWhereTheThreadsOfARowAre) {
    EXPECT_NE(compare("w1.t16.r2.row.registers.masked.packed", forward).row_bits,
              compare("w1.t32.r1.row.registers.masked.packed", forward).row_bits);
}

TEST(EmulatedBits, OfDxAreThoseOfTheClass) {
    const BitsCheck bits = compare("w1.t16.r2.row.registers.masked.packed.split.tile8x16x1", backward);
    EXPECT_EQ(bits.rows_differ, "");
    EXPECT_EQ(bits.runs_differ, "");
    EXPECT_EQ(compare("w2.t16.r4.row.reload.even.persistent_contiguous.gamma_before.atomic", backward).row_bits, bits.row_bits);
}

TEST(EmulatedBits, OfBulkCopiesAreThoseOfTheClass) {
    const BitsCheck bits = compare("w1.t32.r1.row.registers.masked.packed", forward);
    ASSERT_NE(bits.row_bits, "");
    for (const char* bulk :
         {"w1.t32.r1.row.registers.masked.persistent_strided.s2.tma_loads", "w1.t32.r1.row.shared.guard.persistent_strided.s3.tma"}) {
        EXPECT_EQ(compare(bulk, forward).row_bits, bits.row_bits) << bulk;
    }
    // Of a cluster bulk copies are alike, and others than pieces.
    constexpr const char* wide = "fused_add_rms_norm/forward/fp32/llama/5x600";
    const std::string in_bulk = compare("w1.t32.r1.row.shared.masked.persistent_strided.s2.c2.tma_loads", wide).row_bits;
    EXPECT_EQ(compare("w1.t32.r1.row.shared.guard.persistent_strided.s3.c2.tma", wide).row_bits, in_bulk);
    EXPECT_NE(compare("w1.t32.r1.row.shared.masked.persistent_strided.s2.c2", wide).row_bits, in_bulk);
}

TEST(EmulatedBits, OfRowsSideBySideInAClusterAreThoseOfOneAlone) {
    constexpr const char* wide = "fused_add_rms_norm/backward/bf16/llama/9x1160";
    const Configuration one = Configuration::parse("w1.t32.r1.row.registers.masked.per_row.c4");
    const Configuration several =
        Configuration::parse("w4.t32.r4.row.shared.guard.persistent_strided.gamma_hoisted.s2.cooperative.tile16x32x4.c4");
    ASSERT_EQ(row_class(one, Backend::cuda), row_class(several, Backend::cuda));
    const BitsCheck bits = compare(several.key().c_str(), wide);
    EXPECT_EQ(bits.rows_differ, "");
    EXPECT_EQ(bits.runs_differ, "");
    ASSERT_NE(bits.row_bits, "");
    EXPECT_EQ(compare(one.key().c_str(), wide).row_bits, bits.row_bits);
}

TEST(EmulatedBits, OfInferenceInPlaceAreThoseOfTheClassAndOfInferenceElsewhere) {
    const std::string problem = "fused_add_rms_norm/inference/fp32/llama/5x200";
    const BitsCheck bits = compare("w1.t16.r2.row.registers.masked.packed", problem.c_str());
    EXPECT_EQ(bits.rows_differ, "");
    ASSERT_NE(bits.row_bits, "");
    EXPECT_EQ(compare("w2.t16.r8.row.shared.guard.persistent_strided.runtime.gamma_hoisted.s2", (problem + "/in_place").c_str()).row_bits,
              bits.row_bits);
}

TEST(EmulatedBits, OfAKernelWhoseSumsDependOnMAreTold) {
    testing::EmulationOptions options;
    options.edit = [](std::string source) {
        constexpr std::string_view sum = "nt_row_sum(sum, shared, cluster_barriers, step);\n";
        const std::size_t at = source.find(sum, source.find("nt_forward(const void* x"));
        return source.insert(at + sum.size(), "if (rows > 4) { sum[0] = nt_bits_float(nt_float_bits(sum[0]) + 3u); }\n");
    };
    const BitsCheck bits = compare("w1.t16.r2.row.registers.masked.packed", forward, std::move(options));
    EXPECT_NE(bits.rows_differ.find("in a batch of"), std::string::npos) << bits.rows_differ;
    EXPECT_EQ(bits.row_bits, "");
}

}  // namespace
}  // namespace normtune
