// Compiling for AMD with no GPU: hiprtc in processes of its own, clang, and what their code objects say. Skipped where
// they are not installed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "devices/default_space.h"
#include "devices/gpu/utility_kernels.h"
#include "devices/hip/clang.h"
#include "devices/hip/code.h"
#include "devices/hip/code_object.h"
#include "devices/hip/hiprtc.h"
#include "support/error.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

namespace normtune::hip {
namespace {

TEST(HipOccupancy, CountsWhatRegistersWavefrontsAndSharedMemoryLeave) {
    // CDNA: 4 SIMDs with 512 registers a lane, given out by 8, and at most 8 wavefronts each.
    EXPECT_EQ(programs_per_compute_unit("gfx90a", 64, 256, 64, 0), 8);
    EXPECT_EQ(programs_per_compute_unit("gfx90a", 64, 256, 65, 0), 7);
    EXPECT_EQ(programs_per_compute_unit("gfx942", 64, 1024, 128, 0), 1);
    EXPECT_EQ(programs_per_compute_unit("gfx942", 64, 1024, 129, 0), 0);
    EXPECT_EQ(programs_per_compute_unit("gfx942", 64, 64, 32, 20 << 10), 3);
    EXPECT_EQ(threads_per_compute_unit("gfx942", 64), 2048);
    // RDNA, wavefronts of 32 and pairs of compute units: 4 SIMDs with 1024 or 1536 registers a lane, 16 wavefronts each.
    EXPECT_EQ(programs_per_compute_unit("gfx1030", 32, 256, 64, 0), 8);
    EXPECT_EQ(programs_per_compute_unit("gfx1030", 32, 256, 128, 0), 4);
    EXPECT_EQ(programs_per_compute_unit("gfx1030", 32, 64, 32, 40 << 10), 3);
    EXPECT_EQ(programs_per_compute_unit("gfx1100", 32, 256, 96, 0), 8);
    EXPECT_EQ(programs_per_compute_unit("gfx1100", 32, 256, 120, 0), 6);
    EXPECT_EQ(programs_per_compute_unit("gfx1100", 32, 512, 256, 0), 1);
    EXPECT_EQ(programs_per_compute_unit("gfx1102", 32, 256, 120, 0), 4);
    EXPECT_EQ(programs_per_compute_unit("gfx1201", 32, 256, 120, 0), 6);
    EXPECT_EQ(threads_per_compute_unit("gfx1100", 32), 2048);
    EXPECT_EQ(threads_per_compute_unit("gfx1200", 32), 2048);
}

TEST(KnownHipDevices, AreThoseThatPlanningOffers) {
    ASSERT_FALSE(known_architectures(Backend::hip).empty());
    for (const std::string& arch : known_architectures(Backend::hip)) {
        const DeviceInfo device = describe_architecture(arch);
        EXPECT_EQ(device.backend, Backend::hip);
        EXPECT_EQ(device.arch, arch);
        EXPECT_EQ(device.warp_size, arch.starts_with("gfx9") ? 64 : 32);
        EXPECT_FALSE(device.has_async_copy);
        EXPECT_EQ(device.threads_per_compute_unit, threads_per_compute_unit(arch, device.warp_size));
    }
}

class HipCompiler : public ::testing::Test {
protected:
    void SetUp() override {
        setenv("NORMTUNE_CACHE_DIR", folder_.path().c_str(), 1);
        hip_compiler_executable() = NORMTUNE_EXECUTABLE;
    }
    void TearDown() override { unsetenv("NORMTUNE_CACHE_DIR"); }

    /// Why there is no compiler for the architecture; empty where there is one.
    static std::string missing(const std::string& arch) {
        try {
            toolchain(arch);
            return {};
        } catch (const InputError& error) {
            return error.what();
        }
    }

    static CompileJob job(const std::string& compiler, const std::string& arch) {
        return {compiler, arch, {"-std=c++17"}, SourceText("extern \"C\" __attribute__((global)) void k(int* p) { *p = 1; }")};
    }

    testing::TemporaryFolder folder_;
};

TEST_F(HipCompiler, HiprtcCompilesAndSaysWhatIsWrong) {
    std::string why_not;
    const std::string name = hiprtc_name(why_not);
    if (name.empty()) {
        GTEST_SKIP() << why_not;
    }
    const CompiledCode code = hiprtc_compile(job(name, "gfx90a"));
    const std::vector<KernelFigures> kernels = kernel_figures(code.image);
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].name, "k");
    EXPECT_EQ(kernels[0].wavefront_size, 64);
    EXPECT_GT(kernels[0].vector_registers, 0);
    EXPECT_EQ(kernels[0].scratch_bytes, 0);
    for (const auto& [file, place] : {std::pair("", "1:1: error: "), std::pair("norm.hip", " norm.hip:1:1: error: ")}) {
        CompileJob broken = job(name, "gfx90a");
        broken.source = SourceText("this is no C++\n", file);
        try {
            hiprtc_compile(broken);
            FAIL();
        } catch (const DeviceError& error) {
            EXPECT_EQ(error.fault(), DeviceFault::compile_failed);
            EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
        }
    }
}

TEST_F(HipCompiler, BothTakeTheKernelsOfTheMeasuring) {
    if (testing::sanitized) {
        GTEST_SKIP() << "what the compilers make of them is the same under a sanitizer";
    }
    std::string why_not;
    for (const bool with_clang : {false, true}) {
        const std::string name = with_clang ? clang_name(why_not) : hiprtc_name(why_not);
        if (name.empty()) {
            GTEST_SKIP() << why_not;
        }
        std::vector<std::string> sources{gpu::utility_source()};
        for (const auto part : {gpu::CopyPart::plain, gpu::CopyPart::together_or_narrow, gpu::CopyPart::late}) {
            sources.push_back(gpu::copy_source(1, 1, false, part));
            sources.push_back(gpu::copy_source(3, 1, false, part));
        }
        for (const std::string& source : sources) {
            CompileJob utilities = job(name, "gfx90a");
            utilities.source = SourceText(source);
            EXPECT_FALSE((with_clang ? clang_compile(utilities) : hiprtc_compile(utilities)).image.empty());
        }
    }
}

// hiprtc 5.2 ends its process on an architecture that it does not know; a newer one says so.
TEST_F(HipCompiler, AnArchitectureThatHiprtcDoesNotKnowIsARecordNotTheEnd) {
    std::string why_not;
    const std::string name = hiprtc_name(why_not);
    if (name.empty()) {
        GTEST_SKIP() << why_not;
    }
    try {
        hiprtc_compile(job(name, "gfx9999"));
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::compile_failed);
        EXPECT_NE(std::string(error.what()).find("gfx9999"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(hiprtc_compile(job(name, "gfx90a")).image.empty());
}

TEST_F(HipCompiler, EqualCodeHasEqualBytes) {
    std::string why_not;
    const std::string name = clang_name(why_not);
    if (name.empty()) {
        GTEST_SKIP() << why_not;
    }
    EXPECT_EQ(clang_compile(job(name, "gfx942")).image, clang_compile(job(name, "gfx942")).image);
}

TEST_F(HipCompiler, DamagedCodeObjectsAreRefused) {
    std::string why_not;
    const std::string name = clang_name(why_not);
    if (name.empty()) {
        GTEST_SKIP() << why_not;
    }
    const std::vector<std::byte> image = clang_compile(job(name, "gfx1100")).image;
    ASSERT_EQ(kernel_figures(image).at(0).wavefront_size, 32);
    std::mt19937 random(7);
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
        std::vector<std::byte> damaged(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(random() % (image.size() + 1)));
        for (int change = 0; change < i % 4 && !damaged.empty(); ++change) {
            damaged[random() % std::min<std::size_t>(damaged.size(), 1024)] = static_cast<std::byte>(random());
        }
        try {
            kernel_figures(damaged);
        } catch (const InputError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 500);
    EXPECT_THROW(kernel_figures({}), InputError);
}

class HipArchitecture : public HipCompiler, public ::testing::WithParamInterface<const char*> {};

TEST_P(HipArchitecture, CompilesTheDefaultSpace) {
    if (testing::sanitized) {
        GTEST_SKIP() << "what the compilers make of the space is the same under a sanitizer, and takes minutes";
    }
    if (const std::string why_not = missing(GetParam()); !why_not.empty()) {
        GTEST_SKIP() << why_not;
    }
    testing::compile_default_space(describe_architecture(GetParam()), testing::Each::value);
}

INSTANTIATE_TEST_SUITE_P(Known, HipArchitecture, ::testing::Values("gfx90a", "gfx942", "gfx1030", "gfx1100"),
                         [](const auto& arch) { return std::string(arch.param); });

}  // namespace
}  // namespace normtune::hip
