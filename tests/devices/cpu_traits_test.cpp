#include "devices/cpu/traits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace normtune::cpu {
namespace {

DeviceInfo avx512() {
    DeviceInfo device;
    device.arch = "x86-64-avx512";
    device.warp_size = 16;
    return device;
}

Problem forward(std::int64_t cols, Dtype dtype = Dtype::bf16) {
    Problem problem;
    problem.shape = {64, cols, cols};
    problem.operation.dtype = dtype;
    problem.operation.weight_dtype = dtype;
    return problem;
}

/// The first limit that takes a configuration; empty: it is admitted.
std::string taken_by(const Configuration& c, const Problem& problem, const DeviceInfo& device = avx512()) {
    for (const BackendLimit& limit : cpu_traits().limits) {
        if (!limit.admits(c, problem, device)) {
            return limit.name;
        }
    }
    return "";
}

Configuration reload(int num_warps, int threads_per_row, int rows) {
    Configuration c;
    c.num_warps = num_warps;
    c.threads_per_row = threads_per_row;
    c.rows_per_program = rows;
    c.grid = rows == 1 ? Grid::per_row : Grid::packed;
    c.residency = Residency::reload;
    return c;
}

TEST(CpuTraits, AWarpIsOneVectorAndRowsGoSideBySide) {
    EXPECT_EQ(taken_by(reload(4, 64, 1), forward(4096)), "");
    EXPECT_EQ(taken_by(reload(4, 32, 2), forward(4096)), "");
    EXPECT_EQ(taken_by(reload(4, 16, 4), forward(4096)), "");
    EXPECT_EQ(taken_by(reload(4, 8, 8), forward(4096)), "cpu.threads_per_row");  // less than a vector
    EXPECT_EQ(taken_by(reload(16, 256, 1), forward(4096)), "cpu.threads_per_row");
    EXPECT_EQ(taken_by(reload(8, 16, 8), forward(4096)), "cpu.num_warps");
    EXPECT_EQ(taken_by(reload(4, 16, 2), forward(4096)), "cpu.rows_per_program");
}

TEST(CpuTraits, AccumulatorsFitTheRegisters) {
    EXPECT_EQ(taken_by(reload(8, 128, 1), forward(4096, Dtype::fp32)), "");
    EXPECT_EQ(taken_by(reload(8, 128, 1), forward(4096, Dtype::bf16)), "cpu.accumulators");
    DeviceInfo avx2 = avx512();
    avx2.warp_size = 8;
    EXPECT_EQ(taken_by(reload(8, 64, 1), forward(4096, Dtype::fp32), avx2), "cpu.accumulators");
    EXPECT_EQ(taken_by(reload(4, 32, 1), forward(4096, Dtype::fp32), avx2), "");
}

TEST(CpuTraits, RegistersHoldAWholeShortRow) {
    Configuration c = reload(4, 64, 1);
    c.residency = Residency::registers;
    EXPECT_EQ(taken_by(c, forward(128)), "");  // 64 threads of two bf16 columns
    EXPECT_EQ(taken_by(c, forward(129)), "cpu.registers");
    EXPECT_EQ(taken_by(c, forward(128, Dtype::fp32)), "cpu.registers");
    c.reduction = Reduction::where;
    EXPECT_EQ(taken_by(c, forward(128)), "cpu.registers_reduction");
    c.reduction = Reduction::even;
    EXPECT_EQ(taken_by(c, forward(128)), "");
    EXPECT_EQ(taken_by(c, forward(100)), "cpu.registers_reduction");
}

TEST(CpuTraits, BlocksAndEvenDivideByWhatARowTakesAtOnce) {
    Configuration c = reload(4, 64, 1);
    c.block_size = 64;
    EXPECT_EQ(taken_by(c, forward(4096)), "cpu.block_size");  // 128 columns of bf16 at once
    EXPECT_EQ(taken_by(c, forward(4096, Dtype::fp32)), "");
    c.block_size = whole_row;
    c.reduction = Reduction::even;
    EXPECT_EQ(taken_by(c, forward(4096 + 64)), "cpu.even");
    EXPECT_EQ(taken_by(c, forward(4096 + 64, Dtype::fp32)), "");
}

TEST(CpuTraits, StreamingStoresNeedWholeVectorsOnX86) {
    Configuration c = reload(4, 64, 1);
    c.store_hint = CacheHint::streaming;
    EXPECT_EQ(taken_by(c, forward(4096)), "");
    EXPECT_EQ(taken_by(c, forward(4096 + 16)), "cpu.store_hint");
    DeviceInfo other = avx512();
    other.arch = "aarch64";
    EXPECT_EQ(taken_by(c, forward(4096), other), "cpu.store_hint");
    c.store_hint = CacheHint::cache_global;
    EXPECT_EQ(taken_by(c, forward(4096)), "cpu.store_hint");
}

TEST(CpuTraits, OperationsThatAKernelCannotRound) {
    Problem none = forward(4096);
    none.operation.casting = Casting::none;
    none.operation.offset = 1;
    Configuration c = reload(4, 64, 1);
    EXPECT_EQ(taken_by(c, none), "cpu.gamma");
    c.gamma = GammaPlacement::before;
    EXPECT_EQ(taken_by(c, none), "");
    Problem fused = forward(4096);
    fused.operation.op = Op::fused_add_rms_norm;
    fused.operation.residual = ResidualPrecision::fp32;
    EXPECT_EQ(taken_by(reload(4, 64, 1), fused), "cpu.residual_fp32");
    Problem backward = forward(4096);
    backward.operation.mode = Mode::backward;
    c.dgamma = DgammaMethod::atomic;
    EXPECT_EQ(taken_by(c, backward), "cpu.dgamma");
    EXPECT_EQ(taken_by(c, forward(4096)), "");  // no dgamma in the forward
}

TEST(CpuTraits, EachReasonIsOneLine) {
    const BackendTraits traits = cpu_traits();
    for (const BackendLimit& limit : traits.limits) {
        EXPECT_TRUE(limit.name.starts_with("cpu."));
        EXPECT_FALSE(limit.reason.empty());
        EXPECT_EQ(limit.reason.find('\n'), std::string::npos);
    }
    for (const InertAxis& inert : traits.inert) {
        EXPECT_FALSE(inert.reason.empty());
    }
}

}  // namespace
}  // namespace normtune::cpu
