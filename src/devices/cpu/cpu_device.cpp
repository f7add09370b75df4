#include "devices/cpu/cpu_device.h"

#include <fmt/format.h>

#include <new>

#include "devices/cpu/sampling.h"
#include "devices/cpu/traits.h"
#include "kernels/cpu/instruction_sets.h"

namespace normtune::cpu {

namespace {

DeviceInfo info_of(const HostInfo& host, const PassSet& set) {
    DeviceInfo info;
    info.backend = Backend::cpu;
    info.name = host.name;
    info.arch = arch_name(set);
    info.driver = host.kernel_release;
    info.warp_size = set.lanes;
    info.compute_units = static_cast<int>(host.cpus.size());
    info.max_threads_per_program = most_row_vectors * set.lanes;
    info.shared_bytes_per_program = host.l1_data_bytes;
    info.cache_bytes = host.last_level_bytes;
    info.memory_bytes = host.memory_bytes;
    return info;
}

}  // namespace

DeviceInfo describe_cpu() {
    return info_of(read_host_info(), chosen_pass_set());
}

std::unique_ptr<Device> open_cpu() {
    return std::make_unique<CpuDevice>(read_host_info(), chosen_pass_set());
}

CpuDevice::CpuDevice(const HostInfo& host, const PassSet& set)
    : info_(info_of(host, set)), traits_(cpu_traits()), memory_(std::make_shared<Memory>(host.cpus, set)) {}

std::unique_ptr<Kernel> CpuDevice::compile(const Problem& problem, const Candidate& candidate) {
    const Configuration& configuration = own_configuration(candidate);
    for (const BackendLimit& limit : traits_.limits) {
        if (!limit.admits(configuration, problem, info_)) {
            throw DeviceError(DeviceFault::unsupported, fmt::format("{}: {}", limit.name, limit.reason));
        }
    }
    return std::make_unique<CpuKernel>(problem, configuration, memory_->passes, memory_->pool.size());
}

std::unique_ptr<Buffers> CpuDevice::allocate(const Problem& problem, const BufferRequest& request) {
    return std::make_unique<CpuBuffers>(memory_, problem, request);
}

void CpuDevice::run(const Kernel& kernel, Buffers& buffers, int set) {
    // The interface is const for devices whose kernels are handles; ours takes its workspace on the first launch.
    auto& own = const_cast<CpuKernel&>(dynamic_cast<const CpuKernel&>(kernel));
    auto& sets = dynamic_cast<CpuBuffers&>(buffers);
    try {
        own.prepare();
    } catch (const std::bad_alloc&) {
        throw DeviceError(DeviceFault::out_of_memory, "no memory for the workspace of the threads");
    }
    memory_->pool.lead([&](Team& team) { own.launch(team, sets.pointers(set)); });
}

SampleBatch CpuDevice::sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) {
    auto* own = const_cast<CpuKernel*>(dynamic_cast<const CpuKernel*>(kernel));
    auto& sets = dynamic_cast<CpuBuffers&>(buffers);
    if (request.kind == SampleKind::kernel) {
        try {
            own->prepare();
        } catch (const std::bad_alloc&) {
            throw DeviceError(DeviceFault::out_of_memory, "no memory for the workspace of the threads");
        }
    }
    SampleBatch batch;
    memory_->pool.lead([&](Team& team) { batch = take_samples(team, own, sets, request); });
    return batch;
}

}  // namespace normtune::cpu
