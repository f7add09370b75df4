#include "devices/gpu/gpu_device.h"

#include <algorithm>
#include <array>

#include "devices/gpu/callable_kernel.h"
#include "devices/gpu/copy_limit.h"
#include "devices/gpu/gpu_buffers.h"
#include "devices/gpu/gpu_kernel.h"
#include "devices/gpu/gpu_program.h"
#include "devices/gpu/gpu_timer.h"
#include "devices/gpu/utility_kernels.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/limits.h"

namespace normtune::gpu {

namespace {

/// At the memory's own rate, two transfers a clock; a device that does not tell it counts as one of 1 TB/s. A driver may take 0.3 ms to
/// tell a clock.
double bytes_a_us(const Driver& driver, DeviceId device) {
    int khz = 0;
    int bits = 0;
    driver.device_get_attribute(&khz, Attribute::memory_clock_khz, device);
    driver.device_get_attribute(&bits, Attribute::memory_bus_bits, device);
    return khz > 0 && bits > 0 ? 2.0 * khz / 1e3 * bits / 8 : 1e6;
}

/// Of a launch: the least bytes, and what the shortest kernels take beside; adding dgamma up over programs takes longer. This only decides
/// how many launches make a sample.
double expected_us(const Problem& problem, double bytes_a_us) {
    const double least_us = problem.operation.has(TensorRole::dgamma) ? 6 : 4;
    return least_us + static_cast<double>(least_bytes(problem)) / bytes_a_us;
}

SourceText text_of(const ProgramSource& source, std::string_view part) {
    return SourceText(std::string(source.common).append(part));
}

class GpuDevice final : public Device {
public:
    explicit GpuDevice(Platform platform);

    const DeviceInfo& info() const override { return platform_.info; }
    std::unique_ptr<Kernel> compile(const Problem& problem, const Candidate& candidate) override;
    void compile_ahead(const Problem& problem, const Candidate& candidate) override;
    std::unique_ptr<Buffers> allocate(const Problem& problem, const BufferRequest& request) override;
    std::span<std::byte> staging(std::size_t bytes) override;
    void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override;
    SampleBatch sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) override;
    Window next_window(const Kernel& kernel, const Buffers& /*buffers*/, bool /*cold*/) const override {
        return static_cast<const RotatingKernel&>(kernel).next_window(workspace_.get());
    }
    std::unique_ptr<DeviceProgram> load(const ProgramSource& source) override;
    void load_ahead(const ProgramSource& source) override;

private:
    void clear_workspace(std::int64_t bytes);
    void evict(Stream stream, double over_cache) const;
    Rotation& rotation(const Kernel* kernel, const GpuBuffers& buffers, const SampleRequest& request);
    Platform platform_;
    const Driver& driver_;
    const DeviceInfo& info_;
    DeviceId device_ = 0;
    double bytes_a_us_ = 1;
    Stream stream_ = nullptr;
    OwnedModule utilities_;
    std::optional<GpuTimer> timer_;
    OwnedMemory workspace_;
    std::int64_t workspace_bytes_ = 0;
    OwnedHostMemory staging_;  // page-locked
    std::size_t staging_bytes_ = 0;
    OwnedMemory eviction_;
    std::int64_t eviction_bytes_ = 0;
    Evict evict_ = [this](Stream stream, double over_cache) { evict(stream, over_cache); };
    /// What a kernel's times are beside; each of the two ways to launch has its own.
    struct References {
        CopyLimit copy;
        std::optional<Rotation> empty{};
        RotationSize empty_size{};
    };
    Rotation& empty_rotation(References& references, const RotationSize& size, bool dependent);
    std::vector<References> references_;  // plain, dependent
};

GpuDevice::GpuDevice(Platform platform)
    : platform_(std::move(platform)),
      driver_(platform_.driver),
      info_(platform_.info),
      utilities_(driver_),
      workspace_(driver_),
      staging_(driver_),
      eviction_(driver_) {
    platform_.toolchain.pool->ahead(platform_.toolchain.options, SourceText(utility_source()));  // while the driver starts
    const auto started = [&](Result result) { check(driver_, result, DeviceFault::launch_failed, "starting the device"); };
    started(driver_.device_get(&device_, info_.ordinal));
    started(driver_.device_use(device_));
    bytes_a_us_ = bytes_a_us(driver_, device_);
    constexpr unsigned ordered_after_the_null_stream = 0;  // uploads and downloads go through that one
    started(driver_.stream_create(&stream_, ordered_after_the_null_stream));
    int wait_value = 0;
    driver_.device_get_attribute(&wait_value, Attribute::can_wait_for_value, device_);
    utilities_ =
        load_module(driver_, platform_.toolchain.pool->get(platform_.toolchain.options, SourceText(utility_source()))->code.image.data());
    const auto gate_kernel = [this](DevicePointer flag, std::uint32_t ticket) {
        std::array<void*, 2> arguments{&flag, &ticket};
        launch_plain(driver_, function_of(driver_, utilities_, "nt_gate"), 1, 1, arguments.data(), stream_);
    };
    std::function<void()> settle;
    if (has_sm_90(info_)) {
        settle = [this] {
            const Function function = function_of(driver_, utilities_, "nt_settle");
            for (const bool begins_early : {false, true}) {
                launch_plain(driver_, function, 1, 32, nullptr, stream_, begins_early);
            }
        };
    }
    timer_.emplace(driver_, stream_, wait_value != 0, gate_kernel, settle, has_l2_policies(info_),
                   [this] { return platform_.clocks(info_.id); });
    for (const bool dependent : {false, true}) {
        references_.push_back({CopyLimit(driver_, platform_.toolchain, info_, dependent)});
    }
    eviction_bytes_ = 2 * info_.cache_bytes;
    eviction_ = gpu::allocate(driver_, eviction_bytes_ + 16, "starting the device");
    started(driver_.set_u32_async(eviction_.get(), 0, static_cast<std::size_t>(eviction_bytes_ / 4 + 4), stream_));
    started(driver_.stream_synchronize(stream_));
}

std::unique_ptr<Kernel> GpuDevice::compile(const Problem& problem, const Candidate& candidate) {
    if (is_callable(candidate)) {
        return std::make_unique<CallableKernel>(driver_, prepare_callable(problem, candidate, info_));
    }
    const auto [compiled, plan, info] = load_candidate(problem, candidate, platform_.toolchain, info_);
    return std::make_unique<GpuKernel>(driver_, compiled->code.image.data(), plan, info, info_, device_);
}

void GpuDevice::compile_ahead(const Problem& problem, const Candidate& candidate) {
    if (!is_callable(candidate)) {
        compile_candidate_ahead(problem, candidate, platform_.toolchain, info_);
    }
}

std::unique_ptr<DeviceProgram> GpuDevice::load(const ProgramSource& source) {
    const Toolchain& tools = platform_.toolchain;
    GpuDevice::load_ahead(source);
    std::vector<GpuProgram::Part> parts;
    for (const std::string_view part : source.parts) {
        const auto compiled = tools.pool->get(tools.options, text_of(source, part));
        parts.push_back({std::string(part), load_module(driver_, compiled->code.image.data())});
    }
    return std::make_unique<GpuProgram>(driver_, std::move(parts), stream_);
}

void GpuDevice::load_ahead(const ProgramSource& source) {
    for (const std::string_view part : source.parts) {
        platform_.toolchain.pool->ahead(platform_.toolchain.options, text_of(source, part));
    }
}

std::unique_ptr<Buffers> GpuDevice::allocate(const Problem& problem, const BufferRequest& request) {
    for (References& references : references_) {
        references.copy.forget();
    }
    references_.front().copy.compile_ahead(problem);
    return std::make_unique<GpuBuffers>(driver_, problem, request, stream_);
}

// A copy into pageable memory goes through the driver's own buffers at a fraction of the link's speed.
std::span<std::byte> GpuDevice::staging(std::size_t bytes) {
    if (bytes > staging_bytes_) {
        constexpr unsigned plain = 0;
        staging_bytes_ = 0;
        if (driver_.memory_host_alloc(staging_.make(), bytes, plain) != success) {
            return Device::staging(bytes);  // slower, and no reason to fail
        }
        staging_bytes_ = bytes;
    }
    return {static_cast<std::byte*>(staging_.get()), bytes};
}

void GpuDevice::clear_workspace(std::int64_t bytes) {
    if (bytes > workspace_bytes_) {
        workspace_.reset();
        workspace_bytes_ = 0;
        workspace_ = gpu::allocate(driver_, bytes, "allocating the workspace");
        workspace_bytes_ = bytes;
    }
    if (bytes > 0) {
        check(driver_, driver_.set_u32_async(workspace_.get(), 0, static_cast<std::size_t>((bytes + 3) / 4), stream_),
              DeviceFault::launch_failed, "clearing the workspace");
    }
}

void GpuDevice::run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) {
    const auto& gpu_kernel = static_cast<const RotatingKernel&>(kernel);
    if (workspace == Workspace::cleared || gpu_kernel.workspace_bytes() > workspace_bytes_) {
        clear_workspace(gpu_kernel.workspace_bytes());
    }
    gpu_kernel.run_once(static_cast<const GpuBuffers&>(buffers), set, workspace_.get(), stream_);
    check(driver_, driver_.stream_synchronize(stream_), DeviceFault::launch_failed, "running the kernel");
}

/// Lines of the region, and nothing else, are in the L2 then, clean.
void GpuDevice::evict(Stream stream, double over_cache) const {
    DevicePointer from = eviction_.get();
    DevicePointer never = from + static_cast<DevicePointer>(eviction_bytes_);
    constexpr int vectors_of_line = 8;
    long long vectors = std::min(eviction_bytes_, static_cast<std::int64_t>(over_cache * static_cast<double>(info_.cache_bytes))) / 16;
    vectors -= vectors % vectors_of_line;
    std::array<void*, 3> arguments{&from, &never, &vectors};
    const std::int64_t programs = std::int64_t{info_.compute_units} * 4;
    launch_plain(driver_, function_of(driver_, utilities_, "nt_evict"), programs, 512, arguments.data(), stream);
    if (has_l2_policies(info_)) {
        std::array<void*, 2> lines{&from, &vectors};
        launch_plain(driver_, function_of(driver_, utilities_, "nt_demote"), programs, 512, lines.data(), stream);
    }
}

/// In graphs of as many launches as the problem's kernels.
Rotation& GpuDevice::empty_rotation(References& references, const RotationSize& size, bool dependent) {
    if (!references.empty || references.empty_size != size) {
        const Function function = function_of(driver_, utilities_, dependent ? "nt_empty_dependent" : "nt_empty");
        const auto launch = [this, function, dependent](int, Stream stream) {
            launch_plain(driver_, function, 1, 32, nullptr, stream, dependent);
        };
        references.empty.emplace(driver_, launch, size);
        references.empty_size = size;
    }
    return *references.empty;
}

Rotation& GpuDevice::rotation(const Kernel* kernel, const GpuBuffers& buffers, const SampleRequest& request) {
    RotationSize size{request.cold ? buffers.sets() : 1, buffers.set_bytes(), request.cold ? info_.cache_bytes : 0,
                      expected_us(buffers.problem(), bytes_a_us_)};
    References& references = references_.at(request.dependent ? 1 : 0);
    if (request.kind == SampleKind::empty) {
        size.cache_bytes = 0;
        return empty_rotation(references, size, request.dependent);
    }
    if (request.kind == SampleKind::copy) {
        return references.copy.rotation(buffers, size,
                                        {[&](const Enqueue& enqueue) { return timer_->glance_us(enqueue, size, evict_); },
                                         [&](Rotation& rotation) { return timer_->quick_sample_us(rotation, evict_); }});
    }
    const auto& gpu_kernel = static_cast<const RotatingKernel&>(*kernel);
    clear_workspace(gpu_kernel.workspace_bytes());
    return gpu_kernel.rotation(buffers, workspace_.get(), size, stream_);
}

SampleBatch GpuDevice::sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) {
    const auto& sets = static_cast<const GpuBuffers&>(buffers);
    const auto exchange = [&, window = kernel != nullptr ? next_window(*kernel, buffers, request.cold) : Window{}](bool fetch) {
        if (request.examined >= 0) {
            static_cast<const RotatingKernel&>(*kernel).exchange(sets, request.examined, window, fetch, stream_);
            check(driver_, driver_.stream_synchronize(stream_), DeviceFault::launch_failed, "running the kernel");
        }
    };
    Rotation& rotated = rotation(kernel, sets, request);
    exchange(false);
    SampleBatch batch = timer_->sample(rotated, request, evict_);
    exchange(true);
    batch.copy = request.kind == SampleKind::copy ? references_.at(request.dependent ? 1 : 0).copy.method() : "";
    return batch;
}

}  // namespace

std::unique_ptr<Device> open_device(Platform platform) {
    return std::make_unique<GpuDevice>(std::move(platform));
}

}  // namespace normtune::gpu
