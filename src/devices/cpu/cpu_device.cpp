#include "devices/cpu/cpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "devices/callables.h"
#include "devices/cpu/sampling.h"
#include "devices/cpu/traits.h"
#include "kernels/cpu/instruction_sets.h"
#include "support/build_id.h"
#include "support/error.h"
#include "support/version.h"

namespace normtune::cpu {

/// It runs on the calling thread: what it starts itself must not inherit the one core of a thread of ours.
class CallableKernel final : public Kernel {
public:
    explicit CallableKernel(std::unique_ptr<Callable> callable) : callable_(std::move(callable)) {}

    const CompileInfo& info() const override { return info_; }
    void launch(const CpuBuffers& buffers, int set) const { callable_->launch(addresses(buffers, set), std::nullopt, nullptr); }
    void bind(const CpuBuffers& buffers, int set) const { callable_->bind(addresses(buffers, set), nullptr); }
    void exchange(const CpuBuffers& buffers, int set, bool fetch) const {
        callable_->exchange(addresses(buffers, set), std::nullopt, fetch, nullptr);
    }

private:
    static TensorAddresses addresses(const CpuBuffers& buffers, int set) {
        TensorAddresses out{};
        const TensorPointers pointers = buffers.pointers(set);
        std::transform(pointers.begin(), pointers.end(), out.begin(), [](std::byte* at) { return reinterpret_cast<std::uint64_t>(at); });
        return out;
    }

    std::unique_ptr<Callable> callable_;
    const CompileInfo info_;  // what Python code runs is not known
};

namespace {

DeviceInfo info_of(const HostInfo& host, const PassSet& set) {
    DeviceInfo info;
    info.backend = Backend::cpu;
    info.name = host.name;
    info.arch = arch_name(set);
    info.driver = host.kernel_release;
    info.warp_size = set.lanes;
    info.compute_units = static_cast<int>(host.cpus.size());
    info.threads_per_compute_unit = 1;
    info.max_threads_per_program = most_row_vectors * set.lanes;
    info.shared_bytes_per_program = host.l1_data_bytes;
    info.cache_bytes = host.last_level_bytes;
    info.memory_bytes = host.memory_bytes;
    return info;
}

/// The interface is const for devices whose kernels are handles; ours takes its workspace on the first launch.
CpuKernel& prepared(const Kernel& kernel) {
    auto& own = const_cast<CpuKernel&>(dynamic_cast<const CpuKernel&>(kernel));
    try {
        own.prepare();
    } catch (const std::bad_alloc&) {
        throw DeviceError(DeviceFault::out_of_memory, "no memory for the workspace of the threads");
    }
    return own;
}

DeviceInfo describe(int ordinal) {
    if (ordinal != 0) {
        throw InputError(fmt::format("no cpu device {}: all processors together are device 0", ordinal));
    }
    return info_of(read_host_info(), chosen_pass_set());
}

std::unique_ptr<Device> open(int ordinal) {
    describe(ordinal);
    return std::make_unique<CpuDevice>(read_host_info(), chosen_pass_set());
}

/// The CPU's kernels are in the executable, and so is all that launches them.
std::string kernels_text() {
    std::string id = build_id();
    if (id.empty()) {
        throw SystemError("this executable was linked without --build-id, so its kernels cannot be told from others");
    }
    return id;
}

}  // namespace

BackendRow backend() {
    return {.backend = Backend::cpu,
            .traits = cpu_traits,
            .find =
                [](const std::string&) {
                    return std::vector<DeviceReport>{{Backend::cpu, describe(0), ""}};
                },
            .describe = [](int ordinal, const std::string&) { return describe(ordinal); },
            .open = [](int ordinal, const std::string&) { return open(ordinal); },
            .kernels = [](const DeviceInfo&, const std::string&) { return kernels_text(); },
            .built_by = std::string(build_compiler())};
}

CpuDevice::CpuDevice(const HostInfo& host, const PassSet& set)
    : info_(info_of(host, set)), traits_(cpu_traits()), memory_(std::make_shared<Memory>(host.cpus, set)) {}

std::unique_ptr<Kernel> CpuDevice::compile(const Problem& problem, const Candidate& candidate) {
    if (is_callable(candidate)) {
        return std::make_unique<CallableKernel>(prepare_callable(problem, candidate, info_));
    }
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

void CpuDevice::run(const Kernel& kernel, Buffers& buffers, int set, Workspace /*workspace*/) {
    auto& sets = dynamic_cast<CpuBuffers&>(buffers);
    if (const auto* callable = dynamic_cast<const CallableKernel*>(&kernel)) {
        callable->bind(sets, set);
        callable->exchange(sets, set, false);
        callable->launch(sets, set);
        callable->exchange(sets, set, true);
        return;
    }
    CpuKernel& own = prepared(kernel);
    memory_->pool.lead([&](Team& team) { own.launch(team, sets.pointers(set)); });
}

Window CpuDevice::next_window(const Kernel& /*kernel*/, const Buffers& buffers, bool cold) const {
    auto& sets = const_cast<CpuBuffers&>(dynamic_cast<const CpuBuffers&>(buffers));
    sets.start_rotation(0);  // or the first sample would choose where
    return {cold ? sets.upcoming_set() : 0, 1};
}

SampleBatch CpuDevice::sample_callable(const CallableKernel& callable, CpuBuffers& sets, const SampleRequest& request) {
    if (request.examined >= 0) {
        callable.exchange(sets, request.examined, false);
    }
    const Launching launching{
        [&](int set) { callable.launch(sets, set); },
        [&](int set) { memory_->pool.lead([&](Team& team) { sets.restore(team, set); }); },
        [&](int first, int launches) {
            for (int i = 0; i < launches; ++i) {
                callable.bind(sets, (first + i) % sets.sets());
            }
        },
    };
    const SampleBatch batch = take_samples(sets, request, memory_->pool.size(), launching);
    if (request.examined >= 0) {
        callable.exchange(sets, request.examined, true);
    }
    return batch;
}

SampleBatch CpuDevice::sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) {
    auto& sets = dynamic_cast<CpuBuffers&>(buffers);
    if (const auto* callable = dynamic_cast<const CallableKernel*>(kernel)) {
        return sample_callable(*callable, sets, request);
    }
    CpuKernel* own = kernel == nullptr ? nullptr : &prepared(*kernel);
    SampleBatch batch;
    memory_->pool.lead([&](Team& team) { batch = take_samples(team, own, sets, request); });
    return batch;
}

}  // namespace normtune::cpu
