// Buffers, rotation and sampling of the CPU device.
#include <gtest/gtest.h>

#include <fstream>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>
#include <thread>

#include "devices/cpu/cpu_device.h"
#include "devices/cpu/sampling.h"
#include "devices/cpu_reference.h"
#include "devices/registry.h"
#include "kernels/cpu/instruction_sets.h"
#include "support/error.h"

namespace normtune::test {
namespace {

Problem small(Mode mode, Dtype dtype = Dtype::bf16) {
    Problem problem;
    problem.shape = {16, 128, 128};
    problem.operation.mode = mode;
    problem.operation.dtype = dtype;
    problem.operation.weight_dtype = dtype;
    return problem;
}

Configuration reload() {
    Configuration c;
    c.num_warps = 1;
    c.residency = Residency::reload;
    return c;
}

class CpuDeviceTest : public ::testing::Test {
protected:
    CpuDeviceTest() : device_(open_device(Backend::cpu, 0, "")) { lanes_ = device_->info().warp_size; }
    Configuration configuration() const {
        Configuration c = reload();
        c.threads_per_row = lanes_;
        return c;
    }
    /// The values of one tensor of a set.
    static std::vector<double> values(const Buffers& buffers, const Problem& problem, TensorRole role, int set) {
        for (const Tensor& tensor : tensors(problem)) {
            if (tensor.role == role) {
                std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.span_bytes()));
                buffers.download(role, set, bytes);
                std::vector<double> out;
                for (std::int64_t i = 0; i < tensor.span(); ++i) {
                    out.push_back(element(bytes, tensor.dtype, i));
                }
                return out;
            }
        }
        return {};
    }
    std::unique_ptr<Device> device_;
    int lanes_ = 0;
};

TEST_F(CpuDeviceTest, IsListedAndDescribesItself) {
    const auto reports = find_devices();
    const auto cpu =
        std::find_if(reports.begin(), reports.end(), [](const DeviceReport& report) { return report.backend == Backend::cpu; });
    ASSERT_NE(cpu, reports.end());
    ASSERT_TRUE(cpu->info.has_value());
    EXPECT_EQ(cpu->info->arch, device_->info().arch);
    EXPECT_EQ(describe_device(Backend::cpu, 0, "").warp_size, lanes_);
    EXPECT_THROW(open_device(Backend::cpu, 1, ""), InputError);
    EXPECT_THROW(describe_device(Backend::cpu, -1, ""), InputError);
}

TEST_F(CpuDeviceTest, SetsAreAddedUntilTheRotationIsReached) {
    const Problem problem = small(Mode::backward);
    const auto one = device_->allocate(problem, {});
    EXPECT_EQ(one->sets(), 1);
    const auto many = device_->allocate(problem, {.rotation_bytes = 1 << 20, .seed = 3});
    EXPECT_GE(many->rotation_bytes(), 1 << 20);
    EXPECT_LT(many->rotation_bytes() - many->rotation_bytes() / many->sets(), 1 << 20);
}

/// Mapped, not resident: what a sanitizer keeps of memory that is touched does not count.
std::int64_t mapped_bytes() {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * 4096;
}

TEST_F(CpuDeviceTest, SetsOfAShortProblemTakeLittleMoreThanTheirTensors) {
    constexpr std::int64_t rotation = std::int64_t{256} << 20;
    Problem problem = small(Mode::forward);
    problem.shape = {2, 64, 64};
    device_->allocate(problem, {.rotation_bytes = 0});  // patterns are drawn
    const std::int64_t before = mapped_bytes();
    const auto buffers = device_->allocate(problem, {.rotation_bytes = rotation, .seed = 3});
    EXPECT_GE(buffers->rotation_bytes(), rotation);
    EXPECT_LT(mapped_bytes() - before, 2 * rotation);
}

TEST_F(CpuDeviceTest, InputsAreNormalFiniteAndDifferentInEachSet) {
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
        const Problem problem = small(Mode::backward, dtype);
        const auto buffers = device_->allocate(problem, {.rotation_bytes = 1 << 18, .seed = 11});
        std::set<std::vector<double>> seen;
        for (int set = 0; set < buffers->sets(); ++set) {
            for (const TensorRole role : {TensorRole::x, TensorRole::dy}) {
                const std::vector<double> x = values(*buffers, problem, role, set);
                EXPECT_TRUE(seen.insert(x).second) << "the same values twice";
                double sum = 0;
                double squares = 0;
                for (const double v : x) {
                    ASSERT_TRUE(std::isfinite(v));
                    sum += v;
                    squares += v * v;
                }
                const auto count = static_cast<double>(x.size());
                EXPECT_NEAR(sum / count, 0, 0.12);
                EXPECT_NEAR(squares / count, 1, 0.17);
            }
            for (const double rstd : values(*buffers, problem, TensorRole::rstd, set)) {
                EXPECT_NEAR(rstd, 1, 0.1);
            }
        }
        for (const double w : values(*buffers, problem, TensorRole::gamma, 0)) {
            EXPECT_NEAR(w, 1, 0.6);
        }
    }
}

TEST_F(CpuDeviceTest, GammaIsOneForAllSetsAndCentredOnZeroWithAnOffset) {
    Problem problem = small(Mode::forward);
    problem.operation.offset = 1;
    const auto buffers = device_->allocate(problem, {.rotation_bytes = 1 << 18, .seed = 5});
    ASSERT_GT(buffers->sets(), 1);
    const auto gamma = values(*buffers, problem, TensorRole::gamma, 0);
    EXPECT_EQ(gamma, values(*buffers, problem, TensorRole::gamma, 1));
    for (const double w : gamma) {
        EXPECT_NEAR(w, 0, 0.6);
    }
}

TEST_F(CpuDeviceTest, TheSameSeedGivesTheSameInputs) {
    const Problem problem = small(Mode::forward);
    const auto first = device_->allocate(problem, {.rotation_bytes = 0, .seed = 1});
    const auto again = device_->allocate(problem, {.rotation_bytes = 0, .seed = 1});
    const auto other = device_->allocate(problem, {.rotation_bytes = 0, .seed = 2});
    EXPECT_EQ(values(*first, problem, TensorRole::x, 0), values(*again, problem, TensorRole::x, 0));
    EXPECT_NE(values(*first, problem, TensorRole::x, 0), values(*other, problem, TensorRole::x, 0));
}

TEST_F(CpuDeviceTest, CopiesLeaveEveryInputAlone) {
    for (const Mode mode : {Mode::forward, Mode::backward, Mode::full, Mode::inference}) {
        Problem problem = small(mode);
        problem.operation.op = mode == Mode::inference ? Op::fused_add_rms_norm : Op::rms_norm;
        problem.operation.in_place = mode == Mode::full || mode == Mode::inference;
        const auto buffers = device_->allocate(problem, {.rotation_bytes = 1 << 18, .seed = 9});
        std::vector<std::vector<double>> before;
        const auto inputs = [&] {
            std::vector<std::vector<double>> all;
            for (int set = 0; set < buffers->sets(); ++set) {
                for (const Tensor& tensor : tensors(problem)) {
                    if (tensor.access != Access::out) {
                        all.push_back(values(*buffers, problem, tensor.role, set));
                    }
                }
            }
            return all;
        };
        before = inputs();
        const SampleBatch batch = device_->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 4 * buffers->sets()});
        EXPECT_EQ(inputs(), before);
        EXPECT_GT(batch.us.front(), 0);
    }
}

// Over whole tensors and no more, whatever the method, and without a byte lost where parts and chunks meet.
TEST_F(CpuDeviceTest, EachCopyMovesWholeSignals) {
    cpu::HostInfo host = cpu::read_host_info();
    host.cpus.resize(3, host.cpus[0]);
    const auto memory = std::make_shared<cpu::Memory>(host.cpus, cpu::chosen_pass_set());
    for (const char* key :
         {"rms_norm/forward/bf16/llama/7x1408", "rms_norm/forward/fp32/llama/600x1021", "fused_add_rms_norm/forward/bf16/llama/3x70",
          "rms_norm/backward/fp32/llama/1x33", "fused_add_rms_norm/backward/fp32/llama/40x517"}) {
        const Problem problem = parse_problem_key(key);
        cpu::CpuBuffers buffers(memory, problem, {.rotation_bytes = 0, .seed = 4});
        const PassTraffic pass = signal_traffic(problem).front();
        const auto methods = buffers.copies().methods(3);
        EXPECT_GE(methods.size(), 2U);
        std::set<int> threads;
        for (const cpu::CopyMethod& method : methods) {
            threads.insert(method.threads);
            for (const TensorRole role : pass.writes) {
                buffers.fill(role, 0, 0xdeadbeef, tensor_of(problem, role).span_bytes());
            }
            memory->pool.lead([&](cpu::Team& team) { buffers.copies().launch(team, buffers.pointers(0), method); });
            for (std::size_t i = 0; i < pass.writes.size(); ++i) {
                EXPECT_EQ(values(buffers, problem, pass.writes[i], 0), values(buffers, problem, pass.reads[i], 0)) << key << method.text();
            }
        }
        EXPECT_TRUE(threads.contains(3)) << key;
        EXPECT_EQ(threads.contains(1), signal_bytes(problem) <= (1 << 20)) << key;
        const bool of_several = std::max(pass.reads.size(), pass.writes.size()) > 1;
        EXPECT_EQ(std::ranges::any_of(methods, &cpu::CopyMethod::interleaved), of_several && signal_bytes(problem) > 1024) << key;
    }
}

TEST_F(CpuDeviceTest, SamplesAreAsManyAsAskedForOrWithinTheTimeCap) {
    const Problem problem = small(Mode::forward);
    const auto buffers = device_->allocate(problem, {.rotation_bytes = 1 << 18, .seed = 9});
    const auto kernel = device_->compile(problem, configuration());
    for (const bool cold : {true, false}) {
        const SampleBatch batch = device_->sample(kernel.get(), *buffers, {.cold = cold, .samples = 7});
        EXPECT_EQ(batch.us.size(), 7U);
        EXPECT_GE(batch.launches_per_sample, 1);
        EXPECT_EQ(batch.timer, "steady_clock");
        EXPECT_TRUE(std::all_of(batch.us.begin(), batch.us.end(), [](double us) { return us > 0; }));
    }
    EXPECT_LE(device_->sample(kernel.get(), *buffers, {.samples = 1000, .time_cap_us = 1e-3}).us.size(), 3U);  // more than one: see below
    EXPECT_EQ(device_->sample(nullptr, *buffers, {.kind = SampleKind::empty, .samples = 3}).us.size(), 3U);
}

// One sample of a round was all that a trial had where the scheduler took its processor away: a copy of 2 us had 1,000.
TEST_F(CpuDeviceTest, AnInterruptedSampleIsNotTheOnlyOne) {
    const auto buffers = device_->allocate(small(Mode::forward), {.rotation_bytes = 1 << 18, .seed = 9});
    int launches = 0;
    const auto launch = [&](int) {
        // The first three may be asked how many make a sample.
        std::this_thread::sleep_for(std::chrono::microseconds(++launches == 4 ? 20'000 : 20));
    };
    const SampleBatch batch = cpu::take_samples(dynamic_cast<cpu::CpuBuffers&>(*buffers),
                                                {.cold = true, .samples = 5, .time_cap_us = 5'000}, 1, {launch, [](int) {}});
    EXPECT_GT(launches, 4);
    EXPECT_EQ(batch.us.size(), 5U);
}

TEST_F(CpuDeviceTest, AnInterruptedSampleIsOneOfThreeWhereOneIsEnough) {
    const auto samples_of = [this](const Problem& problem, int first, int last) {  // the launches that are interrupted
        const auto buffers = device_->allocate(problem, {.rotation_bytes = 1 << 18, .seed = 9});
        int launches = 0;
        const auto launch = [&](int) {
            ++launches;
            std::this_thread::sleep_for(std::chrono::milliseconds(launches >= first && launches <= last ? 400 : 0));
        };
        return cpu::take_samples(dynamic_cast<cpu::CpuBuffers&>(*buffers), {.cold = true, .samples = 50, .time_cap_us = 1e-3}, 1,
                                 {launch, [](int) {}})
            .us.size();
    };
    EXPECT_EQ(samples_of(small(Mode::forward), 1, 3), 3U) << "all that are asked how many make a sample";
    Problem large = small(Mode::forward);
    large.shape = {1024, 1024, 1024};  // a sample is one launch, so that the first is asked once
    EXPECT_EQ(samples_of(large, 2, 2), 3U) << "the round's first";
}

TEST_F(CpuDeviceTest, RepeatedBackwardInPlaceStaysFinite) {
    Problem problem = small(Mode::backward, Dtype::fp16);
    problem.operation.in_place = true;
    const auto buffers = device_->allocate(problem, {});
    const auto kernel = device_->compile(problem, configuration());
    device_->sample(kernel.get(), *buffers, {.samples = 403});
    double squares = 0;
    for (const double dy : values(*buffers, problem, TensorRole::dy, 0)) {
        ASSERT_TRUE(std::isfinite(dy));
        squares += dy * dy / (16 * 128);
    }
    EXPECT_GT(squares, 0.1);
    EXPECT_LT(squares, 100);
}

// Each launch adds y to the residual: what is timed is put back before 16-bit numbers overflow.
TEST_F(CpuDeviceTest, RepeatedInferenceInPlaceStaysNearItsInputs) {
    for (const Op op : {Op::rms_norm, Op::fused_add_rms_norm}) {
        Problem problem = small(Mode::inference, Dtype::fp16);
        problem.operation.op = op;
        problem.operation.in_place = true;
        const auto buffers = device_->allocate(problem, {});
        const auto kernel = device_->compile(problem, configuration());
        device_->sample(kernel.get(), *buffers, {.samples = 403});
        for (const Tensor& tensor : tensors(problem)) {
            for (const double value : values(*buffers, problem, tensor.role, 0)) {
                ASSERT_LT(std::abs(value), 100) << tensor_names.name(tensor.role);
            }
        }
    }
}

TEST_F(CpuDeviceTest, TooLargeASetIsOutOfMemoryAndNothingElse) {
    Problem problem = small(Mode::forward);
    problem.shape = {std::int64_t{1} << 24, std::int64_t{1} << 24, std::int64_t{1} << 24};
    try {
        device_->allocate(problem, {});
        FAIL() << "512 TiB were allocated";
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::out_of_memory);
    }
    EXPECT_EQ(device_->allocate(small(Mode::forward), {})->sets(), 1);
}

TEST_F(CpuDeviceTest, WhatASetTakesIsSaidWithGamma) {
    Problem problem = small(Mode::forward);
    problem.shape = {1, std::int64_t{1} << 42, std::int64_t{1} << 42};
    try {
        device_->allocate(problem, {});
        FAIL() << "24 TiB were allocated";
    } catch (const DeviceError& error) {
        long long mib = 0;
        ASSERT_EQ(std::sscanf(error.what(), "one set of tensors takes %lld MiB", &mib), 1) << error.what();
        EXPECT_GE(mib, 3 << 23) << "x, y and gamma of bf16";
    }
}

TEST_F(CpuDeviceTest, UploadsAndDownloadsCheckTheirSize) {
    const auto buffers = device_->allocate(small(Mode::forward), {});
    std::vector<std::byte> few(10);
    EXPECT_THROW(buffers->upload(TensorRole::x, 0, few), std::invalid_argument);
    EXPECT_THROW(buffers->download(TensorRole::y, 5, few), std::invalid_argument);
    EXPECT_THROW(buffers->download(TensorRole::dx, 0, few), std::invalid_argument);
}

}  // namespace
}  // namespace normtune::test
