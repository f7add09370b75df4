// The CPU as a device: every core that this process may use, with the widest vectors it has.
#pragma once

#include <memory>

#include "devices/cpu/cpu_buffers.h"
#include "devices/cpu/host_info.h"
#include "devices/registry.h"

namespace normtune::cpu {

/// It and what it opens throw InputError: NORMTUNE_CPU_ISA names a set that there is not.
BackendRow backend();

class CallableKernel;

class CpuDevice final : public Device {
public:
    CpuDevice(const HostInfo& host, const PassSet& set);

    const DeviceInfo& info() const override { return info_; }
    std::unique_ptr<Kernel> compile(const Problem& problem, const Candidate& candidate) override;
    std::unique_ptr<Buffers> allocate(const Problem& problem, const BufferRequest& request) override;
    void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override;
    Window next_window(const Kernel& kernel, const Buffers& buffers, bool cold) const override;
    SampleBatch sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) override;

private:
    SampleBatch sample_callable(const CallableKernel& callable, CpuBuffers& sets, const SampleRequest& request);

    DeviceInfo info_;
    BackendTraits traits_;
    std::shared_ptr<Memory> memory_;
};

}  // namespace normtune::cpu
