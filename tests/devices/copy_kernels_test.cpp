// The copies that the limit is measured by copy: compiled for the host, a thread after the other, as none reads what another writes.
#include "devices/gpu/utility_kernels.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace normtune::gpu {
namespace {

constexpr const char* host_words = R"cpp(
#define __device__
#define __global__
    struct uint1 {
        unsigned x;
    };
    struct uint2 {
        unsigned x, y;
    };
    struct uint4 {
        unsigned x, y, z, w;
    };
    static struct { int x; } threadIdx, blockIdx, blockDim, gridDim;
    template <typename T>
    T __ldg(const T* p) {
        return *p;
    }
    template <typename T>
    T __ldcg(const T* p) {
        return *p;
    }
    template <typename T>
    T __ldcs(const T* p) {
        return *p;
    }
    template <typename T>
    void __stcs(T* p, T v) {
        *p = v;
    }
    int __syncthreads_or(int any) {
        return any;
    }
)cpp";

constexpr const char* runner = R"cpp(
    typedef void (*Kernel)(nt_streams);
    extern "C" void run(Kernel kernel, const nt_streams* streams, int programs, int threads) {
        gridDim.x = programs;
        blockDim.x = threads;
        for (blockIdx.x = 0; blockIdx.x < programs; ++blockIdx.x)
            for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
                kernel(*streams);
    }
)cpp";

struct Streams {
    std::array<const void*, 3> in{};
    std::array<void*, 2> out{};
    long long vectors = 0;
};

class CopyKernels : public ::testing::TestWithParam<std::pair<std::size_t, std::size_t>> {
protected:
    void SetUp() override {
        const auto [reads, writes] = GetParam();
        for (const CopyPart part : {CopyPart::plain, CopyPart::together_or_narrow, CopyPart::late}) {  // staged takes asynchronous copies
            const int number = static_cast<int>(part);
            const std::string text = host_words + copy_source(reads, writes, false, part) + runner;
            const std::string source = folder_.write(fmt::format("copies_{}.cpp", number), text);
            const std::string library = folder_.path(fmt::format("copies_{}.so", number));
            ASSERT_EQ(std::system(fmt::format("{} -std=c++20 -O1 -w -shared -fPIC {} -o {}", NORMTUNE_CXX, source, library).c_str()), 0);
            libraries_.push_back(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
            ASSERT_NE(libraries_.back(), nullptr) << dlerror();
        }
    }
    void TearDown() override {
        for (void* library : libraries_) {
            if (library != nullptr) {
                dlclose(library);
            }
        }
    }

    /// One program a piece, or so many.
    void expect_copies(const std::string& kernel, int vector_bytes, int unroll, int programs, long long vectors) {
        const auto [reads, writes] = GetParam();
        const int threads = 64;
        const auto bytes = static_cast<std::size_t>(vectors * vector_bytes);
        std::mt19937 random(static_cast<unsigned>(bytes));
        constexpr std::byte untouched{0xa5};
        constexpr std::size_t beyond = 256;
        std::vector<std::vector<std::byte>> in(reads, std::vector<std::byte>(bytes));
        std::vector<std::vector<std::byte>> out(writes, std::vector<std::byte>(bytes + beyond, untouched));
        Streams streams;
        streams.vectors = vectors;
        for (std::size_t i = 0; i < reads; ++i) {
            for (std::byte& byte : in[i]) {
                byte = static_cast<std::byte>(random());
            }
            streams.in[i] = in[i].data();
        }
        for (std::size_t i = 0; i < writes; ++i) {
            streams.out[i] = out[i].data();
        }
        const auto pieces = static_cast<int>((vectors + threads * unroll - 1) / (threads * unroll));
        using RunKernel = void (*)(void*, const Streams*, int, int);
        const auto library = std::ranges::find_if(libraries_, [&](void* one) { return dlsym(one, kernel.c_str()) != nullptr; });
        ASSERT_NE(library, libraries_.end()) << kernel;
        reinterpret_cast<RunKernel>(dlsym(*library, "run"))(dlsym(*library, kernel.c_str()), &streams, programs == 0 ? pieces : programs,
                                                            threads);
        for (std::size_t i = 0; i < writes; ++i) {
            std::vector<std::byte> wanted = in[i < reads ? i : 0];
            wanted.resize(bytes + beyond, untouched);
            EXPECT_EQ(out[i], wanted) << kernel << ", " << vectors << " vectors, stream " << i;
        }
    }

    testing::TemporaryFolder folder_;
    std::vector<void*> libraries_;
};

TEST_P(CopyKernels, WriteWhatTheyReadAndNothingBeyond) {
    for (const long long vectors : {1, 63, 64, 256, 1000, 4097}) {
        for (const char* hint : {"default", "streaming", "streaming_stores", "cache_global", "evict_last", "evict_last_streaming_stores"}) {
            for (const int unroll : {1, 2, 4, 8}) {
                for (const int programs : {0, 3}) {
                    expect_copies(fmt::format("nt_copy_16_{}_{}", unroll, hint), 16, unroll, programs, vectors);
                }
            }
        }
        for (const char* hint : {"together", "together_default", "together_evict_last", "late", "late_default", "late_evict_last"}) {
            for (const int unroll : {2, 3, 4}) {
                expect_copies(fmt::format("nt_copy_16_{}_{}", unroll, hint), 16, unroll, 0, vectors);
            }
        }
        for (const int vector_bytes : {4, 8}) {
            for (const int unroll : {1, 4}) {
                expect_copies(fmt::format("nt_copy_{}_{}_default", vector_bytes, unroll), vector_bytes, unroll, 3, vectors);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Streams, CopyKernels,
                         ::testing::Values(std::pair(1, 1), std::pair(2, 1), std::pair(3, 1), std::pair(2, 2), std::pair(1, 2)),
                         [](const auto& given) { return fmt::format("{}_in_{}_out", given.param.first, given.param.second); });

}  // namespace
}  // namespace normtune::gpu
