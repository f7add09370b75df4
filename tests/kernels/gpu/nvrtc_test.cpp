// A broad random sample of the space through NVRTC, with no GPU; skipped where NVRTC is not installed.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "devices/cuda/nvrtc.h"
#include "devices/device.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "support/sanitized.h"
#include "verify/device_oracle_source.h"

namespace normtune::gpu {
namespace {

DeviceInfo nvidia() {
    DeviceInfo device;
    device.backend = Backend::cuda;
    device.warp_size = 32;
    device.compute_units = 108;
    device.shared_bytes_per_program = 160 << 10;
    device.has_async_copy = true;
    return device;
}

class Nvrtc {
public:
    bool found() const { return !cuda::nvrtc_version(why_not).empty(); }

    /// The compiler's log; `ok` says whether there is code.
    std::string compile(const std::vector<std::string>& defines, const std::string& arch, bool& ok) {
        std::vector<std::string> options = defines;
        options.emplace_back("--std=c++17");
        try {
            ok = true;
            return cuda::nvrtc_compile({"", arch, options, SourceText(std::string(source()))}).log;
        } catch (const DeviceError& error) {
            ok = false;
            return error.what();
        }
    }

    mutable std::string why_not;
};

bool spills(const std::string& log) {
    for (std::size_t at = log.find(" bytes spill stores"); at != std::string::npos; at = log.find(" bytes spill stores", at + 1)) {
        if (log[at - 1] != '0' || log[at - 2] != ' ') {
            return true;
        }
    }
    return false;
}

/// The backend can express the configuration, and its code is compiled and spills nothing.
void expect_compiled(const char* problem, const char* configuration, const char* arch) {
    DeviceInfo device = nvidia();
    device.shared_bytes_per_program = 227 << 10;
    device.arch = arch;
    const Problem p = parse_problem_key(problem);
    const Configuration c = Configuration::parse(configuration);
    ASSERT_EQ(objection(c, p, device), "") << configuration;
    bool ok = false;
    const std::string log = Nvrtc().compile(define_options(macros(c, p, device)), arch, ok);
    EXPECT_TRUE(ok && !spills(log)) << configuration << ' ' << arch << '\n' << log;
}

template <typename T>
T pick(std::mt19937& random, std::initializer_list<T> values) {
    return values.begin()[random() % values.size()];
}

Problem random_problem(std::mt19937& random) {
    Problem problem;
    Operation& o = problem.operation;
    o.op = pick(random, {Op::rms_norm, Op::fused_add_rms_norm});
    o.mode = pick(random, {Mode::forward, Mode::backward, Mode::full, Mode::inference});
    o.dtype = pick(random, {Dtype::bf16, Dtype::fp16, Dtype::fp32});
    o.casting = pick(random, {Casting::llama, Casting::gemma, Casting::none});
    o.weight_dtype = pick(random, {o.dtype, Dtype::fp32});
    o.affine = random() % 6 != 0;
    o.in_place = o.can_be_in_place() && random() % 4 == 0;
    o.residual = o.adds_residual() && o.has_forward() ? pick(random, {ResidualPrecision::rounded, ResidualPrecision::fp32})
                                                      : ResidualPrecision::rounded;
    problem.shape.rows = pick<std::int64_t>(random, {1, 128, 8192, 40001});
    problem.shape.cols = pick<std::int64_t>(random, {128, 409, 576, 1024, 4096, 5120, 8192});
    problem.shape.row_stride = problem.shape.cols + (o.can_have_stride() ? pick<std::int64_t>(random, {0, 0, 64}) : 0);
    return problem;
}

Configuration random_configuration(std::mt19937& random) {
    Configuration c;
    for (int axis = 0; axis < axis_count; ++axis) {
        const AxisDomain& d = domain(static_cast<Axis>(axis));
        if (!d.names.empty()) {
            set_axis(c, static_cast<Axis>(axis), static_cast<int>(random() % d.names.size()));
        }
    }
    c.num_warps = pick(random, {1, 2, 4, 8, 16, 32});
    c.threads_per_row = pick(random, {8, 16, 32, 64, 128, 256, 512, 1024});
    c.tile_rows = pick(random, {1, 1, 2});
    const int side = std::max(1, c.num_warps * 32 / c.threads_per_row);
    c.rows_per_program = c.grid == Grid::per_row ? 1 : side * c.tile_rows * pick(random, {1, 2, 4});
    c.block_size = pick(random, {whole_row, whole_row, 512, 2048});
    c.vector_bytes = pick(random, {16, 16, 8, 4});
    c.stages = pick(random, {1, 2, 3});
    c.programs_per_sm = pick(random, {1, 2});
    return c;
}

class NvrtcSample : public ::testing::TestWithParam<unsigned> {};

TEST_P(NvrtcSample, CompilesForAmpereAndHopper) {
    if (testing::sanitized) {
        GTEST_SKIP() << "what NVRTC makes of the kernels is the same under a sanitizer, and takes a minute";
    }
    Nvrtc nvrtc;
    if (!nvrtc.found()) {
        GTEST_SKIP() << nvrtc.why_not;
    }
    std::mt19937 random(GetParam());
    int compiled = 0;
    int spilled = 0;
    while (compiled < 12) {
        const Problem problem = random_problem(random);
        const Configuration c = random_configuration(random);
        if (!objection(c, problem, nvidia()).empty()) {
            continue;
        }
        for (const char* arch : {"sm_80", "sm_90"}) {
            bool ok = false;
            const std::string log = nvrtc.compile(define_options(macros(c, problem, nvidia())), arch, ok);
            ASSERT_TRUE(ok) << problem.key() << ' ' << c.key() << ' ' << arch << '\n' << log;
            ++compiled;
            if (spills(log)) {
                ++spilled;
                std::cout << "spills on " << arch << ": " << problem.key() << ' ' << c.key() << '\n';
            }
        }
    }
    std::cout << compiled << " compiled, " << spilled << " of them spill\n";
    EXPECT_LE(spilled, compiled / 4) << "the register limit lets too much pass";
}

INSTANTIATE_TEST_SUITE_P(Seeds, NvrtcSample, ::testing::Values(1U, 2U, 3U, 4U));

TEST(Nvrtc, ConfigurationsThatWinOnHopperDoNotSpill) {
    Nvrtc nvrtc;
    if (!nvrtc.found()) {
        GTEST_SKIP() << nvrtc.why_not;
    }
    for (const auto& [problem, configuration] : std::initializer_list<std::pair<const char*, const char*>>{
             {"rms_norm/forward/bf16/llama/8192x4096", "w8.t256.r1.row.registers.even.per_row.gamma_before.ld_streaming.st_streaming"},
             {"rms_norm/forward/bf16/llama/4096x32768", "w32.t1024.r1.row.registers.even.per_row.ld_streaming.st_streaming"},
             {"rms_norm/backward/bf16/llama/8192x4096",
              "w16.t256.r2.row.registers.even.persistent_strided.runtime.gamma_hoisted.s2.tile256x32x16"},
             {"rms_norm/backward/bf16/llama/8192x8192",
              "w32.t1024.r1.row.registers.guard.persistent_strided.runtime.gamma_hoisted.s2.tile128x64x8"}}) {
        expect_compiled(problem, configuration, "sm_90");
    }
}

TEST(Nvrtc, BulkCopiesCompileFromHopperOn) {
    NORMTUNE_NOT_SANITIZED("what NVRTC makes of every form");
    Nvrtc nvrtc;
    if (!nvrtc.found()) {
        GTEST_SKIP() << nvrtc.why_not;
    }
    for (const auto& [problem, configuration] : std::initializer_list<std::pair<const char*, const char*>>{
             {"rms_norm/forward/bf16/llama/8192x4096",
              "w8.t256.r1.row.registers.even.persistent_strided.p2.gamma_hoisted.ld_streaming.s3.tma_loads"},
             {"rms_norm/forward/bf16/llama/65536x256", "w8.t32.r8.row.shared.even.persistent_strided.p4.gamma_hoisted.st_streaming.s4.tma"},
             {"fused_add_rms_norm/forward/bf16/gemma/1024x65536",
              "w8.t256.r1.row.shared.masked.persistent_strided.p2.ld_streaming.s2.c8.tma"},
             {"rms_norm/backward/bf16/llama/8192x4096/in_place",
              "w8.t256.r1.row.shared.even.persistent_strided.gamma_hoisted.s3.published.tma"},
             {"fused_add_rms_norm/backward/bf16/llama/1000x3000",
              "w8.t256.r1.row.shared.masked.persistent_strided.s2.tile128x64x8.tma_loads"},
             {"rms_norm/backward/bf16/llama/1024x65536", "w8.t256.r1.row.shared.masked.persistent_strided.s2.c16.tma"}}) {
        expect_compiled(problem, configuration, "sm_90");
        expect_compiled(problem, configuration, "sm_100");
        DeviceInfo older = nvidia();
        older.arch = "sm_89";
        EXPECT_NE(objection(Configuration::parse(configuration), parse_problem_key(problem), older), "") << configuration;
    }
}

TEST(NvrtcOracle, CompilesForEveryArchitecture) {
    NORMTUNE_NOT_SANITIZED("what NVRTC makes of every form");
    std::string why_not;
    if (cuda::nvrtc_version(why_not).empty()) {
        GTEST_SKIP() << why_not;
    }
    for (const char* arch : {"sm_80", "sm_90"}) {
        for (const std::string_view part : {device_oracle_sums, device_oracle_forward, device_oracle_backward}) {
            const SourceText source(std::string(device_oracle_common).append(part));
            EXPECT_FALSE(spills(cuda::nvrtc_compile({"", arch, {"--std=c++17"}, source}).log)) << part;
        }
    }
}

}  // namespace
}  // namespace normtune::gpu
