// A launcher of one's own around the header that `normtune best --format cpp` writes: all that it knows of a configuration comes from
// there.
//
//   launcher say MODE ROWS …            what it would launch of rms_norm on COLS columns of bf16, on a device of MULTIPROCESSORS
//   launcher run ROWS CUBIN SHARED …    launches forwards whose machine code `normtune emit` wrote (with the shared_bytes of its
//   launch.json)
//                                       through libcuda, and compares what they give with float64
//
// scripts/run_launcher.py makes the header and the machine code, compiles this with -DCOLS=… -DMULTIPROCESSORS=…, and runs it.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "best.h"

namespace {

using normtune_best::Launch;

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "launcher: %s\n", what.c_str());
    std::exit(1);
}

long long programs_of(const Launch& l, long long rows, int multiprocessors) {
    using normtune_best::Grid;
    const long long tiles = (rows + l.rows_per_program - 1) / l.rows_per_program;
    const long long most = static_cast<long long>(l.programs_per_sm) * std::max(1, multiprocessors - l.unit_margin);
    const long long taken = std::min(tiles, most);
    switch (l.grid) {
        case Grid::per_row:
            return rows;
        case Grid::packed:
            return tiles;
        case Grid::persistent_strided:
            return taken;
        case Grid::persistent_balanced: {
            const long long each = (tiles + taken - 1) / taken;
            return (tiles + each - 1) / each;
        }
        case Grid::persistent_contiguous:
            break;
    }
    const long long share = ((rows + taken - 1) / taken + l.rows_per_program - 1) / l.rows_per_program * l.rows_per_program;
    return (rows + share - 1) / share;
}

/// Rows that the kernel takes as its argument of that name.
long long rows_of_a_program(const Launch& l, long long rows, long long programs) {
    if (l.grid == normtune_best::Grid::persistent_contiguous) {
        return ((rows + programs - 1) / programs + l.rows_per_program - 1) / l.rows_per_program * l.rows_per_program;
    }
    return l.grid == normtune_best::Grid::per_row ? 1 : l.rows_per_program;
}

Launch launch_of(const std::string& mode, long long rows) {
    using namespace normtune_best;
    const auto choice = best(Op::rms_norm, mode == "backward" ? Mode::backward : Mode::forward, Dtype::bf16, Casting::llama, rows, COLS);
    if (!choice || !choice->exact) {
        fail("nobody measured " + mode + " of " + std::to_string(rows) + " rows");
    }
    if (choice->launch.cluster != 1) {
        fail("this launcher knows no clusters");
    }
    return choice->launch;
}

void say(const std::string& mode, long long rows) {
    const Launch l = launch_of(mode, rows);
    // Of `beside`, further programs sum gamma's gradient, reduce_cols columns each.
    const bool beside = mode == "backward" && l.dgamma == normtune_best::Dgamma::beside;
    std::printf("nt_%s %lld %d\n", mode.c_str(),
                programs_of(l, rows, MULTIPROCESSORS) + (beside ? (COLS + l.reduce_cols - 1) / l.reduce_cols : 0), l.num_warps * 32);
}

// The few functions of libcuda that this takes.

struct Config {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void* stream;
    void* attributes;
    unsigned attribute_count;
};

class Cuda {
public:
    Cuda() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
        if (library_ == nullptr) {
            fail(dlerror());
        }
    }
    template <typename... Arguments>
    void call(const char* name, Arguments... arguments) const {
        auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
        const int result = function == nullptr ? -1 : function(arguments...);
        if (result != 0) {
            fail(std::string(name) + ": " +
                 (function == nullptr ? "libcuda has no such function" : "CUDA error " + std::to_string(result)));
        }
    }

private:
    void* library_;
};

using Address = unsigned long long;

std::uint16_t to_bf16(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float of_bf16(std::uint16_t value) {
    const std::uint32_t bits = static_cast<std::uint32_t>(value) << 16;
    float out;
    std::memcpy(&out, &bits, 4);
    return out;
}

/// Values around `mean`, of either sign where that is 0.
std::vector<std::uint16_t> values(long long count, float mean, float scale) {
    std::vector<std::uint16_t> out(static_cast<std::size_t>(count));
    std::uint32_t state = 12345;
    for (std::uint16_t& value : out) {
        state = state * 1664525 + 1013904223;
        value = to_bf16(mean + scale * (static_cast<float>(state >> 8) / (1 << 23) - 1));
    }
    return out;
}

constexpr float eps = 1e-6F;

/// The values that are not what float64 gives, but for two roundings to bf16.
long long wrong(const std::vector<std::uint16_t>& x, const std::vector<std::uint16_t>& gamma, const std::vector<std::uint16_t>& y,
                const std::vector<float>& rstd) {
    long long out = 0;
    for (std::size_t row = 0; row < rstd.size(); ++row) {
        double squares = 0;
        for (std::size_t i = 0; i < COLS; ++i) {
            squares += std::pow(of_bf16(x[row * COLS + i]), 2.0);
        }
        const double scale = 1 / std::sqrt(squares / COLS + eps);
        out += std::fabs(rstd[row] - scale) <= 1e-5 * scale ? 0 : 1;
        for (std::size_t i = 0; i < COLS; ++i) {
            const double wanted = of_bf16(x[row * COLS + i]) * scale * of_bf16(gamma[i]);
            out += std::fabs(of_bf16(y[row * COLS + i]) - wanted) <= 0.01 * std::fabs(wanted) ? 0 : 1;
        }
    }
    return out;
}

class Launcher {
public:
    Launcher() {
        cuda_.call("cuInit", 0U);
        cuda_.call("cuDeviceGet", &device_, 0);
        cuda_.call("cuDeviceGetAttribute", &multiprocessors_, 16, device_);
        void* context = nullptr;
        cuda_.call("cuDevicePrimaryCtxRetain", &context, device_);
        cuda_.call("cuCtxSetCurrent", context);
    }

    void allocate(long long most_rows) {
        cuda_.call("cuMemAlloc_v2", &memory_, static_cast<std::size_t>(most_rows * (4 * COLS + 4) + 2 * COLS));
    }

    void run(long long rows, const std::string& cubin, unsigned shared_bytes) const {
        const Launch l = launch_of("forward", rows);
        std::ifstream file(cubin, std::ios::binary);
        const std::string code{std::istreambuf_iterator<char>(file), {}};
        if (code.empty()) {
            fail(cubin + " cannot be read");
        }
        void* module = nullptr;
        void* function = nullptr;
        cuda_.call("cuModuleLoadData", &module, static_cast<const void*>(code.c_str()));
        cuda_.call("cuModuleGetFunction", &function, module, "nt_forward");
        if (shared_bytes > 48 * 1024) {
            cuda_.call("cuFuncSetAttribute", function, 8, static_cast<int>(shared_bytes));
        }
        const std::vector<std::uint16_t> x = values(rows * COLS, 0, 3);
        const std::vector<std::uint16_t> gamma = values(COLS, 1, 0.5F);
        std::vector<std::uint16_t> y(x.size(), 0xffff);  // NaN, as is what nobody writes
        std::vector<float> rstd(static_cast<std::size_t>(rows), NAN);
        Address at_x = memory_;
        Address at_gamma = at_x + 2 * x.size();
        Address at_y = at_gamma + 2 * gamma.size();
        Address at_rstd = at_y + 2 * y.size();
        cuda_.call("cuMemcpyHtoD_v2", at_x, static_cast<const void*>(x.data()), 2 * x.size());
        cuda_.call("cuMemcpyHtoD_v2", at_gamma, static_cast<const void*>(gamma.data()), 2 * gamma.size());
        cuda_.call("cuMemcpyHtoD_v2", at_y, static_cast<const void*>(y.data()), 2 * y.size());
        cuda_.call("cuMemcpyHtoD_v2", at_rstd, static_cast<const void*>(rstd.data()), 4 * rstd.size());

        const long long programs = programs_of(l, rows, multiprocessors_);
        Address none = 0;
        auto all_rows = static_cast<std::int64_t>(rows);
        auto count = static_cast<std::int32_t>(programs);
        auto each = static_cast<std::int32_t>(rows_of_a_program(l, rows, programs));
        float epsilon = eps;
        void* arguments[]{&at_x, &none, &at_gamma, &at_y, &none, &at_rstd, &all_rows, &count, &each, &epsilon};  // as launch.json has them
        const Config config{
            {static_cast<unsigned>(programs), 1, 1}, {static_cast<unsigned>(l.num_warps) * 32, 1, 1}, shared_bytes, nullptr, nullptr, 0};
        cuda_.call("cuLaunchKernelEx", &config, function, static_cast<void**>(arguments), static_cast<void**>(nullptr));
        cuda_.call("cuStreamSynchronize", static_cast<void*>(nullptr));
        cuda_.call("cuMemcpyDtoH_v2", static_cast<void*>(y.data()), at_y, 2 * y.size());
        cuda_.call("cuMemcpyDtoH_v2", static_cast<void*>(rstd.data()), at_rstd, 4 * rstd.size());
        const long long off = wrong(x, gamma, y, rstd);
        std::printf("%lldx%d: %lld programs of %d threads, %lld of %zu values wrong\n", rows, COLS, programs, l.num_warps * 32, off,
                    y.size() + rstd.size());
        if (off > 0) {
            std::exit(1);
        }
    }

private:
    Cuda cuda_;
    int device_ = 0;
    int multiprocessors_ = 0;
    Address memory_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() >= 3 && words[0] == "say" && words.size() % 2 == 1) {
        for (std::size_t i = 1; i < words.size(); i += 2) {
            say(words[i], std::atoll(words[i + 1].c_str()));
        }
        return 0;
    }
    if (words.size() >= 4 && words[0] == "run" && words.size() % 3 == 1) {
        long long most = 0;
        for (std::size_t i = 1; i < words.size(); i += 3) {
            most = std::max(most, std::atoll(words[i].c_str()));
        }
        Launcher launcher;
        launcher.allocate(most);
        for (std::size_t i = 1; i < words.size(); i += 3) {
            launcher.run(std::atoll(words[i].c_str()), words[i + 1], static_cast<unsigned>(std::atoi(words[i + 2].c_str())));
        }
        return 0;
    }
    fail("say MODE ROWS …, or run ROWS CUBIN SHARED_BYTES …");
}
