// The GPU device over a driver that computes nothing.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <set>
#include <string>

#include "devices/fake_gpu.h"
#include "devices/gpu/gpu_buffers.h"
#include "devices/gpu/gpu_device.h"
#include "devices/registry.h"
#include "support/temporary_folder.h"

namespace normtune::gpu {

inline constexpr const char* key = "w4.t128.r1.row.registers.masked.per_row";

inline CompileInfo plain_info(const CompilePool::Result& compiled, const LaunchPlan& plan, const DeviceInfo&) {
    return common_info(compiled, plan);
}

class GpuDeviceTest : public ::testing::Test {
protected:
    GpuDeviceTest() {
        setenv("NORMTUNE_CACHE_DIR", folder_.path().c_str(), 1);
        info_ = describe_architecture("sm_90");
        info_.cache_bytes = 1 << 20;
        problem_ = parse_problem_key("rms_norm/forward/bf16/llama/16x1024");
    }
    ~GpuDeviceTest() override { unsetenv("NORMTUNE_CACHE_DIR"); }

    std::unique_ptr<Device> open() {
        const auto compile = [](const CompileJob&) {
            CompiledCode code;
            code.image.resize(8);
            return code;
        };
        return open_device(
            {driver_, info_, {std::make_unique<CompilePool>("fake", "sm_90", 1, compile), {}, plain_info}, [this](const std::string&) {
                 ++clock_reads_;
                 const ClockState told = clocks_;
                 if (on_clock_read_) {
                     on_clock_read_();
                 }
                 return told;
             }});
    }

    /// Ahead of a cold sample: as many as touch one and a half times the L2.
    int own_launches_ahead(const Buffers& buffers) const {
        const std::int64_t set_bytes = dynamic_cast<const GpuBuffers&>(buffers).set_bytes();
        return static_cast<int>((3 * info_.cache_bytes / 2 + set_bytes - 1) / set_bytes);
    }

    BufferRequest rotating() const { return {.rotation_bytes = 4 * info_.cache_bytes, .seed = 3}; }

    /// Of copies of about 40 us: those that the race left are then all measured.
    SampleBatch eighth_round_of_copies() {
        const auto device = open();
        const auto buffers = device->allocate(parse_problem_key("rms_norm/forward/bf16/llama/512x1024"), rotating());
        SampleBatch batch;
        for (int round = 0; round < 8; ++round) {
            batch = device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 4});
        }
        return batch;
    }

    /// Threads of a program, of each launch of that kernel.
    std::set<unsigned> threads_of(const std::string& kernel) const {
        std::set<unsigned> out;
        for (const FakeGpu::Launched& launch : gpu_.launches) {
            if (launch.kernel == kernel) {
                out.insert(launch.threads);
            }
        }
        return out;
    }

    /// All that a worker does with a problem.
    void whole_run() {
        const std::unique_ptr<Device> device = open();
        const auto kernel = device->compile(problem_, Configuration::parse(key));
        const auto buffers = device->allocate(problem_, rotating());
        std::vector<std::byte> bytes(static_cast<std::size_t>(tensors(problem_).front().span_bytes()), std::byte{7});
        buffers->upload(tensors(problem_).front().role, 0, bytes);
        buffers->fill(TensorRole::y, 0, 0xffffffff, 16 * 1024 * 2);
        device->run(*kernel, *buffers, 0, Workspace::cleared);
        buffers->download(tensors(problem_).front().role, 0, device->staging(bytes.size()));
        const auto program = device->load({"a source", {"KERNEL another(int)", "KERNEL nt_of_verification(int)"}});
        const auto memory = program->allocate(16);
        memory->write(std::span(bytes).first(16));
        program->launch("nt_of_verification", 3, std::array<std::uint64_t, 1>{memory->address()});
        memory->read(std::span(bytes).first(16));
        for (const SampleKind kind : {SampleKind::kernel, SampleKind::copy, SampleKind::empty}) {
            device->sample(kind == SampleKind::kernel ? kernel.get() : nullptr, *buffers, {.kind = kind, .samples = 2});
        }
    }

    testing::TemporaryFolder folder_;
    FakeGpu gpu_;
    Driver driver_ = gpu_.table();
    DeviceInfo info_;
    Problem problem_;
    ClockState clocks_{.mhz = 1500, .memory_mhz = 2619, .throttle_reasons = {"sw_power_cap"}};
    int clock_reads_ = 0;
    std::function<void()> on_clock_read_;
};

}  // namespace normtune::gpu
