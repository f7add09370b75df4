// How near the CPU kernels come to a copy of the same least bytes, beside the plain loop that a user would write.
//
// Shapes are wide enough that one tensor takes more than four times the last-level cache. On a machine with less memory
// than that takes, NORMTUNE_BENCH_TENSOR_MIB sets the size of a tensor; then tensors rotate through four times the
// cache instead. Run it on a machine with nothing else to do. Each line is the median over interleaved rounds:
//   copy       the fastest copy of least_bytes/2 by all cores
//   kernel     the best of a few configurations; its key is the label
//   loop       a plain C++ loop by all cores; loop_1 by one
// limit_ratio = time / the copy's time; gbps = least bytes / time.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "devices/cpu/cpu_buffers.h"
#include "devices/cpu/cpu_device.h"
#include "devices/registry.h"
#include "kernels/cpu/element.h"

namespace {

using namespace normtune;

constexpr int rounds = 5;
constexpr std::int64_t cols = 4096;

std::int64_t tensor_bytes_wanted(const DeviceInfo& info) {
    if (const char* text = std::getenv("NORMTUNE_BENCH_TENSOR_MIB")) {
        return std::max(1LL, std::atoll(text)) << 20;
    }
    return info.cache_bytes * 4 + (std::int64_t{64} << 20);
}

Problem problem_of(Dtype dtype, Casting casting, Mode mode, const DeviceInfo& info) {
    Problem problem;
    const std::int64_t rows = std::max<std::int64_t>(1, tensor_bytes_wanted(info) / (cols * bytes_of(dtype)));
    problem.shape = {rows, cols, cols};
    problem.operation.dtype = dtype;
    problem.operation.weight_dtype = dtype;
    problem.operation.casting = casting;
    problem.operation.mode = mode;
    return problem;
}

/// A few configurations that won on machines seen so far: one to four rows side by side, with and without prefetching.
std::vector<Configuration> candidates(int lanes) {
    std::vector<Configuration> list;
    for (const int rows : {1, 2, 4}) {
        for (const int vectors : {1, 2, 4}) {
            for (const int stages : {1, 2}) {
                if (rows * vectors > 4) {
                    continue;
                }
                Configuration c;
                c.threads_per_row = vectors * lanes;
                c.num_warps = vectors * rows;
                c.rows_per_program = rows;
                c.residency = Residency::reload;
                c.reduction = Reduction::even;
                c.grid = Grid::persistent_contiguous;
                c.gamma = GammaPlacement::hoisted;
                c.store_hint = CacheHint::streaming;
                c.stages = stages;
                list.push_back(c);
            }
        }
    }
    return list;
}

// The loops convert in line, as a user's would; cpu::to_bf16 is a call.
float load(const float* p, std::int64_t i) {
    return p[i];
}
float load(const cpu::bf16* p, std::int64_t i) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(p[i].bits) << 16);
}
void store(float* p, std::int64_t i, float v) {
    p[i] = v;
}
void store(cpu::bf16* p, std::int64_t i, float v) {
    const auto bits = std::bit_cast<std::uint32_t>(v);
    p[i].bits = static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}
template <class T>
float rounded(float v) {
    T narrow;
    store(&narrow, 0, v);
    return load(&narrow, 0);
}

template <class T>
T* tensor(const cpu::TensorPointers& set, TensorRole role) {
    return reinterpret_cast<T*>(set[static_cast<std::size_t>(role)]);
}

template <class T>
void plain_forward(const Problem& problem, const cpu::TensorPointers& set, std::int64_t begin, std::int64_t end) {
    const bool llama = problem.operation.casting == Casting::llama;
    const T* gamma = tensor<T>(set, TensorRole::gamma);
    for (std::int64_t row = begin; row < end; ++row) {
        const T* x = tensor<T>(set, TensorRole::x) + row * cols;
        T* y = tensor<T>(set, TensorRole::y) + row * cols;
        float squares = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
            squares += load(x, c) * load(x, c);
        }
        const float rstd = 1 / std::sqrt(squares / cols + static_cast<float>(problem.operation.eps));
        tensor<float>(set, TensorRole::rstd)[row] = rstd;
        for (std::int64_t c = 0; c < cols; ++c) {
            const float normal = load(x, c) * rstd;
            store(y, c, (llama ? rounded<T>(normal) : normal) * load(gamma, c));
        }
    }
}

template <class T>
void plain_backward(const Problem& problem, const cpu::TensorPointers& set, std::int64_t begin, std::int64_t end, float* dgamma) {
    const bool llama = problem.operation.casting == Casting::llama;
    const T* gamma = tensor<T>(set, TensorRole::gamma);
    for (std::int64_t row = begin; row < end; ++row) {
        const T* x = tensor<T>(set, TensorRole::x) + row * cols;
        const T* dy = tensor<T>(set, TensorRole::dy) + row * cols;
        T* dx = tensor<T>(set, TensorRole::dx) + row * cols;
        const float rstd = tensor<float>(set, TensorRole::rstd)[row];
        float dot = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
            const float normal = load(x, c) * rstd;
            dot += load(dy, c) * load(gamma, c) * load(x, c);
            dgamma[c] += load(dy, c) * (llama ? rounded<T>(normal) : normal);
        }
        const float coefficient = rstd * rstd * rstd * dot / cols;
        for (std::int64_t c = 0; c < cols; ++c) {
            store(dx, c, rstd * load(dy, c) * load(gamma, c) - coefficient * load(x, c));
        }
    }
}

template <class T>
void plain_rows(const Problem& problem, const cpu::TensorPointers& set, std::int64_t begin, std::int64_t end, std::vector<float>& dgamma) {
    if (problem.operation.mode == Mode::forward) {
        plain_forward<T>(problem, set, begin, end);
    } else {
        plain_backward<T>(problem, set, begin, end, dgamma.data());
    }
}

void plain_launch(const Problem& problem, const cpu::TensorPointers& set, int threads) {
    std::vector<std::vector<float>> dgamma(static_cast<std::size_t>(threads), std::vector<float>(cols, 0.0F));
    std::vector<std::thread> team;
    for (int thread = 0; thread < threads; ++thread) {
        team.emplace_back([&, thread] {
            const std::int64_t begin = problem.shape.rows * thread / threads;
            const std::int64_t end = problem.shape.rows * (thread + 1) / threads;
            auto& own = dgamma[static_cast<std::size_t>(thread)];
            if (problem.operation.dtype == Dtype::fp32) {
                plain_rows<float>(problem, set, begin, end, own);
            } else {
                plain_rows<cpu::bf16>(problem, set, begin, end, own);
            }
        });
    }
    for (std::thread& thread : team) {
        thread.join();
    }
    if (problem.operation.mode != Mode::forward) {
        for (std::int64_t c = 0; c < cols; ++c) {
            float sum = 0;
            for (const auto& part : dgamma) {
                sum += part[static_cast<std::size_t>(c)];
            }
            if (problem.operation.dtype == Dtype::fp32) {
                store(tensor<float>(set, TensorRole::dgamma), c, sum);
            } else {
                store(tensor<cpu::bf16>(set, TensorRole::dgamma), c, sum);
            }
        }
    }
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Timings {
    double copy_us = 0;
    double kernel_us = 0;
    double loop_us = 0;
    double loop_1_us = 0;
    std::string best_key;
    std::int64_t bytes = 0;
};

Device& device() {
    static const std::unique_ptr<Device> opened = open_device(Backend::cpu, 0, "");
    return *opened;
}

double plain_us(const Problem& problem, cpu::CpuBuffers& buffers, int threads) {
    const auto set = buffers.pointers(buffers.next_set());
    const auto start = std::chrono::steady_clock::now();
    plain_launch(problem, set, threads);
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// Everything of one problem, round by round, so that drift hits all alike.
Timings measure(const Problem& problem) {
    const auto buffers = device().allocate(problem, {.rotation_bytes = device().info().cache_bytes * 4, .seed = 1});
    auto& sets = dynamic_cast<cpu::CpuBuffers&>(*buffers);
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::vector<Configuration> configurations = candidates(device().info().warp_size);
    for (const Configuration& c : configurations) {
        kernels.push_back(device().compile(problem, c));
    }
    const auto sampled = [&](const Kernel* kernel, SampleKind kind) {
        return median(device().sample(kernel, *buffers, {.kind = kind, .samples = 3, .time_cap_us = 1e5}).us);
    };
    std::vector<std::vector<double>> kernel_us(kernels.size());
    std::vector<double> copy_us;
    std::vector<double> loop_us;
    std::vector<double> loop_1_us;
    for (int round = 0; round < rounds; ++round) {
        copy_us.push_back(sampled(nullptr, SampleKind::copy));
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            kernel_us[i].push_back(sampled(kernels[i].get(), SampleKind::kernel));
        }
        if (round == 0) {  // slow, and no part of a ratio that anything is judged by
            loop_us.push_back(plain_us(problem, sets, device().info().compute_units));
            loop_1_us.push_back(plain_us(problem, sets, 1));
        }
    }
    Timings timings{median(copy_us), INFINITY, median(loop_us), median(loop_1_us), "", least_bytes(problem)};
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const double us = median(kernel_us[i]);
        if (us < timings.kernel_us) {
            timings.kernel_us = us;
            timings.best_key = configurations[i].key();
        }
    }
    return timings;
}

void report(benchmark::State& state, double us, const Timings& timings, const std::string& label) {
    for ([[maybe_unused]] auto iteration : state) {
        state.SetIterationTime(us * 1e-6);
    }
    state.counters["limit_ratio"] = us / timings.copy_us;
    state.counters["gbps"] = static_cast<double>(timings.bytes) / us / 1e3;
    state.SetLabel(label);
}

void add(Dtype dtype, Casting casting, Mode mode) {
    const auto timings = std::make_shared<Timings>();
    const auto measured = [=]() -> const Timings& {
        if (timings->bytes == 0) {
            *timings = measure(problem_of(dtype, casting, mode, device().info()));
        }
        return *timings;
    };
    const std::string name = fmt::format("{}/{}/{}/", mode_names.name(mode), dtype_names.name(dtype), casting_names.name(casting));
    const auto line = [&](const char* what, auto us, auto label) {
        benchmark::RegisterBenchmark((name + what).c_str(),
                                     [=](benchmark::State& state) {
                                         const Timings& all = measured();
                                         report(state, us(all), all, label(all));
                                     })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
    };
    const auto none = [](const Timings&) { return std::string(); };
    line(
        "copy", [](const Timings& t) { return t.copy_us; }, none);
    line(
        "kernel", [](const Timings& t) { return t.kernel_us; }, [](const Timings& t) { return t.best_key; });
    line(
        "loop", [](const Timings& t) { return t.loop_us; }, none);
    line(
        "loop_1", [](const Timings& t) { return t.loop_1_us; }, none);
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    for (const Mode mode : {Mode::forward, Mode::backward}) {
        for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
            for (const Casting casting : {Casting::llama, Casting::gemma}) {
                add(dtype, casting, mode);
            }
        }
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
