#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>

#include "devices/cuda/code.h"
#include "devices/cuda/nvrtc.h"
#include "devices/default_space.h"
#include "devices/gpu/toolchain.h"
#include "devices/gpu/utility_kernels.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "support/error.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

namespace normtune::cuda {
namespace {

// CUDA's occupancy calculator, compute capabilities 8.0 and 9.0.
TEST(CudaOccupancy, CountsWhatRegistersSharedMemoryAndThreadsLeave) {
    constexpr std::int64_t shared_90 = 227 << 10;
    EXPECT_EQ(programs_per_multiprocessor(2048, shared_90, 256, 32, 0), 8);
    EXPECT_EQ(programs_per_multiprocessor(2048, shared_90, 256, 33, 0), 6) << "40 registers are given: 1280 a warp";
    EXPECT_EQ(programs_per_multiprocessor(2048, shared_90, 1024, 64, 0), 1);
    EXPECT_EQ(programs_per_multiprocessor(2048, shared_90, 1024, 65, 0), 0);
    EXPECT_EQ(programs_per_multiprocessor(2048, shared_90, 32, 32, 0), 32);
    EXPECT_EQ(programs_per_multiprocessor(2048, shared_90, 128, 16, 100 << 10), 2);
    EXPECT_EQ(programs_per_multiprocessor(2048, shared_90, 128, 16, shared_90), 1);
    EXPECT_EQ(programs_per_multiprocessor(2048, 163 << 10, 128, 16, 100 << 10), 1);
    EXPECT_EQ(programs_per_multiprocessor(1536, 99 << 10, 512, 32, 0), 3);
}

TEST(CudaLog, TellsWhatEachKernelUses) {
    constexpr std::string_view log =
        "ptxas info    : Compiling entry function 'nt_reduce' for 'sm_90'\nptxas info    : Function properties for nt_reduce\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 64 registers, used 1 barriers, 1024 bytes smem\n"
        "ptxas info    : Compiling entry function 'nt_backward' for 'sm_90'\nptxas info    : Function properties for nt_backward\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 82 registers, used 1 barriers\n";
    EXPECT_EQ(use_of(log, "nt_backward").registers, 82);
    EXPECT_EQ(use_of(log, "nt_backward").shared_bytes, 0) << "that of the other kernel counts for it alone";
    EXPECT_EQ(use_of(log, "nt_reduce").registers, 64);
    EXPECT_EQ(use_of(log, "nt_reduce").shared_bytes, 1024);
    EXPECT_EQ(use_of(log, "nt_forward").registers, 0);
}

TEST(KnownCudaDevices, AreThoseThatPlanningOffers) {
    ASSERT_FALSE(known_architectures(Backend::cuda).empty());
    for (const std::string& arch : known_architectures(Backend::cuda)) {
        const DeviceInfo device = describe_architecture(arch);
        EXPECT_EQ(device.backend, Backend::cuda);
        EXPECT_EQ(device.arch, arch);
        EXPECT_TRUE(device.has_async_copy);
        EXPECT_GE(device.compute_units, 100);
    }
    EXPECT_THROW(describe_architecture("sm_42"), InputError);
}

class CudaCompiler : public ::testing::Test {
protected:
    void SetUp() override {
        std::string why_not;
        if (nvrtc_version(why_not).empty()) {
            GTEST_SKIP() << why_not;
        }
        setenv("NORMTUNE_CACHE_DIR", folder_.path().c_str(), 1);
    }
    void TearDown() override { unsetenv("NORMTUNE_CACHE_DIR"); }

    /// With `threads` threads.
    static CompilePool pool(const char* arch, int threads) { return {nvrtc_name(), arch, threads, nvrtc_compile}; }

    static SourceText kernel(int number) {
        return SourceText("extern \"C\" __global__ void k(float* x) { x[threadIdx.x] = " + std::to_string(number) + ".0f; }");
    }

    testing::TemporaryFolder folder_;
};

TEST_F(CudaCompiler, CompilesAheadOnceAndFindsItInTheCacheLater) {
    {
        CompilePool compiler = pool("sm_80", 2);
        for (int i = 0; i < 8; ++i) {
            compiler.ahead({}, kernel(i % 4));
        }
        for (int i = 0; i < 4; ++i) {
            const auto result = compiler.get({}, kernel(i));
            EXPECT_FALSE(result->from_cache);
            EXPECT_GT(result->code.image.size(), 100U);
            EXPECT_GT(result->code.registers, 0);
            EXPECT_EQ(compiler.get({}, kernel(i)).get(), result.get());
        }
    }
    CompilePool again = pool("sm_80", 1);
    EXPECT_TRUE(again.get({}, kernel(1))->from_cache);
    EXPECT_FALSE(again.get({"-DX=1"}, kernel(1))->from_cache) << "other options are another job";
    CompilePool other = pool("sm_90", 1);
    EXPECT_FALSE(other.get({}, kernel(1))->from_cache) << "another architecture is another job";
}

TEST_F(CudaCompiler, AFailureIsToldEachTimeAndHarmsNoOther) {
    CompilePool compiler = pool("sm_80", 2);
    const SourceText wrong("extern \"C\" __global__ void k() { undeclared = 1; }");
    compiler.ahead({}, wrong);
    compiler.ahead({}, kernel(1));
    for (int i = 0; i < 2; ++i) {
        try {
            compiler.get({}, wrong);
            FAIL() << "compiled";
        } catch (const DeviceError& error) {
            EXPECT_EQ(error.fault(), DeviceFault::compile_failed);
            EXPECT_NE(std::string(error.what()).find("undeclared"), std::string::npos) << error.what();
        }
    }
    EXPECT_FALSE(compiler.get({}, kernel(1))->code.image.empty());
}

TEST_F(CudaCompiler, AUsersFileIsNamed) {
    CompilePool compiler = pool("sm_80", 1);
    const std::string text = "extern \"C\" __global__ void k() {\n    undeclared = 1;\n}\n";
    for (const auto& [file, place] : {std::pair("sub/norm.cu", "sub/norm.cu(2): error"), std::pair("", "normtune.cu(2): error")}) {
        try {
            compiler.get({}, SourceText(text, file));
            FAIL() << "compiled";
        } catch (const DeviceError& error) {
            EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
        }
    }
}

TEST_F(CudaCompiler, TakesTheKernelsOfTheMeasuring) {
    NORMTUNE_NOT_SANITIZED("what NVRTC makes of every form");
    CompilePool compiler = pool("sm_90", 2);
    EXPECT_FALSE(compiler.get({}, SourceText(gpu::utility_source()))->code.image.empty());
    for (const auto& [reads, writes] : {std::pair(1U, 1U), {2U, 1U}, {3U, 1U}, {2U, 2U}}) {
        for (const bool dependent : {false, true}) {
            if (testing::sanitized && (reads > 1 || dependent)) {
                continue;  // what NVRTC makes of them is the same there
            }
            for (const auto part : {gpu::CopyPart::plain, gpu::CopyPart::together_or_narrow, gpu::CopyPart::staged, gpu::CopyPart::late}) {
                EXPECT_FALSE(compiler.get({}, SourceText(gpu::copy_source(reads, writes, dependent, part)))->code.image.empty());
            }
        }
    }
}

// What macros() relies on where it gives both hints one value.
TEST_F(CudaCompiler, ACacheHintOfReadOnlyLoadsChangesNoCode) {
    NORMTUNE_NOT_SANITIZED("what NVRTC makes of every form");
    const Problem problem = parse_problem_key("rms_norm/forward/bf16/llama/64x1024");
    const Configuration plain = Configuration::parse("w4.t128.r1.row.registers.even.per_row");
    const Configuration hinted = Configuration::parse("w4.t128.r1.row.registers.even.per_row.ld_cg");
    const Configuration ahead = Configuration::parse("w4.t128.r2.row.registers.even.packed.ld_cg.s2");
    for (const char* arch : {"sm_80", "sm_90", "sm_100", "sm_120"}) {
        const DeviceInfo device = describe_architecture(arch);
        CompilePool compiler = pool(arch, 2);
        const auto code = [&](const Configuration& c, const char* hint) {
            std::vector<gpu::Macro> macros = gpu::macros(c, problem, device);
            for (gpu::Macro& macro : macros) {
                if (macro.name == "NT_LOAD_HINT") {
                    macro.value = hint == nullptr ? macro.value : hint;
                }
            }
            return compiler.get(gpu::define_options(macros), gpu::kernel_source())->code_hash;
        };
        EXPECT_EQ(code(hinted, nullptr), code(plain, nullptr)) << arch;
        EXPECT_EQ(code(hinted, "NT_LOAD_HINT_cache_global"), code(plain, nullptr)) << arch;
        EXPECT_NE(code(ahead, nullptr), code(ahead, "NT_LOAD_HINT_default")) << arch;
    }
}

// By every way that a row comes and goes: through registers, predicated or not, and asynchronous or bulk copies.
/// Under a sanitizer one: the compiler is not instrumented, and takes as long.
std::vector<const char*> architectures() {
    return testing::sanitized ? std::vector{"sm_90"} : std::vector{"sm_80", "sm_90", "sm_100", "sm_120"};
}

TEST_F(CudaCompiler, LinesAreKeptByEveryWayThatARowComesAndGoes) {
    NORMTUNE_NOT_SANITIZED("what NVRTC makes of every form");
    for (const char* arch : architectures()) {
        const DeviceInfo device = describe_architecture(arch);
        CompilePool compiler = pool(arch, 2);
        for (const auto& [problem_key, key] :
             {std::pair("rms_norm/forward/bf16/llama/64x1024", "w4.t128.r1.row.registers.even.per_row"),
              std::pair("rms_norm/forward/bf16/llama/64x1000", "w4.t128.r1.row.registers.masked.per_row.v2"),
              std::pair("rms_norm/inference/bf16/llama/64x1024/in_place", "w4.t128.r1.row.registers.even.per_row.v4"),
              std::pair("rms_norm/forward/bf16/llama/64x8192", "w8.t256.r1.row.reload.even.per_row"),
              std::pair("rms_norm/backward/bf16/llama/64x1000", "w4.t128.r2.row.shared.masked.persistent_strided.s2"),
              std::pair("rms_norm/forward/bf16/llama/64x1024", "w4.t128.r2.row.shared.even.persistent_strided.s2.tma")}) {
            const Problem problem = parse_problem_key(problem_key);
            Configuration c = Configuration::parse(key);
            if (c.staging != Staging::async && device.arch == "sm_80") {
                continue;
            }
            const auto code = [&] {
                return compiler.get(gpu::define_options(gpu::macros(c, problem, device)), gpu::kernel_source())->code_hash;
            };
            const std::string plain = code();
            c.load_hint = CacheHint::evict_last;
            const std::string kept = code();
            EXPECT_NE(kept, plain) << arch << " " << key;
            c.store_hint = CacheHint::evict_last;
            EXPECT_NE(code(), kept) << arch << " " << key;
        }
    }
}

// A row that is read again with hints for each reading: as many programs as the threads allow, none of whose registers spill.
TEST_F(CudaCompiler, AForwardThatReadsItsRowAgainFillsTheDevice) {
    for (const char* arch : architectures()) {
        const DeviceInfo device = describe_architecture(arch);
        CompilePool compiler = pool(arch, 2);
        const auto compiled = [&](const char* problem_key, const char* configuration) {
            const Problem problem = parse_problem_key(problem_key);
            return compiler.get(gpu::define_options(gpu::macros(Configuration::parse(configuration), problem, device)),
                                gpu::kernel_source());
        };
        const auto plain = compiled("rms_norm/forward/bf16/llama/64x8192", "w16.t512.r1.row.reload.even.per_row");
        for (const auto& [problem, configuration] :
             {std::pair("rms_norm/forward/bf16/llama/64x8192", "w16.t512.r1.row.reload.even.per_row.ld_streaming"),
              {"rms_norm/inference/fp32/none/64x8192", "w16.t512.r1.row.reload.even.per_row.ld_streaming"},
              {"rms_norm/forward/bf16/llama/64x32768", "w32.t1024.r1.row.reload.even.per_row.ld_streaming"},
              {"rms_norm/forward/fp16/gemma/64x8200", "w16.t512.r1.row.reload.masked.per_row.ld_streaming"}}) {
            const auto hinted = compiled(problem, configuration);
            // A multiprocessor has 65536 registers and 2048 threads, that of sm_120 1536.
            const int threads = Configuration::parse(configuration).num_warps * 32;
            const int programs = (std::string_view(arch) == "sm_120" ? 1536 : 2048) / threads;
            EXPECT_LE(hinted->code.registers * threads * programs, 65536) << arch << ' ' << problem;
            EXPECT_EQ(hinted->code.spill_bytes, 0) << arch << ' ' << problem;
            EXPECT_NE(hinted->code_hash, plain->code_hash);
        }
    }
}

TEST_F(CudaCompiler, OwnKernelsDeclareLess) {
    const gpu::Toolchain compiler = toolchain("sm_90");
    const Problem problem = parse_problem_key("rms_norm/forward/bf16/llama/64x1024");
    const std::vector<std::string> options = gpu::compile_options(compiler, {}, problem, describe_architecture("sm_90"));
    EXPECT_EQ(std::count(options.begin(), options.end(), "--minimal"), nvrtc_knows_minimal() ? 1 : 0);
    EXPECT_EQ(std::count(compiler.options.begin(), compiler.options.end(), "--minimal"), 0) << "others' sources may want textures";
}

TEST_F(CudaCompiler, AnUnknownArchitectureIsUnsupported) {
    DeviceInfo device = describe_architecture("sm_80");
    device.arch = "sm_42";
    EXPECT_THROW(normtune::open_compiler(device), InputError);
}

TEST_F(CudaCompiler, LeftWithWorkInTheQueueItEndsWhatItBeganAndNoMore) {
    constexpr int queued = 50;
    {
        CompilePool compiler = pool("sm_80", 2);
        for (int i = 0; i < queued; ++i) {
            compiler.ahead({}, kernel(1000 + i));
        }
        compiler.get({}, kernel(1000));
    }
    CompilePool again = pool("sm_80", 1);
    EXPECT_TRUE(again.get({}, kernel(1000))->from_cache);
    EXPECT_FALSE(again.get({}, kernel(1000 + queued - 1))->from_cache) << "a pool that ends waits for all that was ever queued";
}

// What the default rules keep does not spill: each op and mode on short, usual and wide rows. The rules that are
// applied before anything is compiled foresee most of it.
TEST_F(CudaCompiler, TheDefaultSpaceDoesNotSpill) {
    if (testing::sanitized) {
        GTEST_SKIP() << "what NVRTC makes of the space is the same under a sanitizer, and takes a minute";
    }
    for (const auto& [arch, each] : {std::pair{"sm_80", testing::Each::value}, {"sm_90", testing::Each::pair}}) {
        const testing::CompiledSpace space = testing::compile_default_space(describe_architecture(arch), each);
        EXPECT_LE(space.spilled, space.compiled / 20) << "the register limit lets too much pass";
    }
}

}  // namespace
}  // namespace normtune::cuda
