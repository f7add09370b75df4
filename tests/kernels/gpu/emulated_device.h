// A Device that compiles the GPU source for the host and runs it on emulation/machine.h, so that the kernels'
// arithmetic, masks, barriers, memory accesses and launch arguments are verified without a GPU.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "devices/device.h"
#include "kernels/gpu/emulation/machine.h"
#include "trial/launch_plan.h"

namespace normtune::testing {

/// warp_size 32 with asynchronous copies (NVIDIA), 64 without (AMD).
DeviceInfo emulated_device_info(int warp_size);

struct EmulationOptions {
    /// Other shapes are unsupported, so that a Verifier leaves them out.
    std::function<bool(const Shape&)> supports = [](const Shape&) { return true; };
    /// What the kernels' source becomes before it is compiled: a test of the emulation breaks it here.
    std::function<std::string(std::string)> edit;
    bool has_programs = false;  // for the oracle; without, outputs are compared on the host, which is faster
    std::function<std::string(std::string)> edit_program;
};

/// Memory that programs may use, by where it begins.
using EmulatedMemory = std::map<std::byte*, emulation::Span>;

class EmulatedDevice : public Device {
public:
    explicit EmulatedDevice(int warp_size, EmulationOptions options = {});
    ~EmulatedDevice() override;
    const DeviceInfo& info() const override { return info_; }
    std::unique_ptr<Kernel> compile(const Problem& problem, const Candidate& candidate) override;
    std::unique_ptr<Buffers> allocate(const Problem& problem, const BufferRequest& request) override;
    /// What the machine finds wrong is a launch_failed.
    void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override;
    std::unique_ptr<DeviceProgram> load(const ProgramSource& source) override;
    SampleBatch sample(const Kernel*, Buffers&, const SampleRequest&) override;

private:
    std::unique_ptr<Kernel> compiled(gpu::LaunchPlan plan, const std::string& source) const;

    DeviceInfo info_;
    EmulationOptions options_;
    std::shared_ptr<EmulatedMemory> memory_ = std::make_shared<EmulatedMemory>();
};

}  // namespace normtune::testing
