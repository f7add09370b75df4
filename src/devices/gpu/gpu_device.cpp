#include "devices/gpu/gpu_device.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "devices/gpu/gpu_buffers.h"
#include "devices/gpu/gpu_timer.h"
#include "devices/gpu/manifest_kernel.h"
#include "devices/gpu/planted_faults.h"
#include "devices/gpu/utility_kernels.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "measure/statistics.h"

namespace normtune::gpu {

namespace {

constexpr DevicePointer no_memory = 0x1000;
constexpr std::int64_t more_than_any_device = std::int64_t{1} << 50;

/// One kernel's arguments, packed as the driver takes them: a pointer to each value.
struct PackedArguments {
    std::array<std::uint64_t, most_arguments> values{};
    std::array<void*, most_arguments> pointers{};
};

class LoadedModule {
public:
    LoadedModule(const Driver& driver, const void* image) : driver_(driver) {
        check(driver_, driver_.module_load_data(&module_, image), DeviceFault::compile_failed, "loading a kernel");
    }
    ~LoadedModule() { driver_.module_unload(module_); }
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    Function function(const char* name) const {
        Function out = nullptr;
        check(driver_, driver_.module_get_function(&out, module_, name), DeviceFault::compile_failed, name);
        return out;
    }

private:
    const Driver& driver_;
    Module module_ = nullptr;
};

class DeviceMemory {
public:
    DeviceMemory(const Driver& driver, std::int64_t bytes) : driver_(driver) {
        check(driver_, driver_.memory_alloc(&pointer_, static_cast<std::size_t>(bytes)), DeviceFault::out_of_memory,
              "allocating the copy's buffers");
    }
    ~DeviceMemory() { driver_.memory_free(pointer_); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    DevicePointer pointer() const { return pointer_; }

private:
    const Driver& driver_;
    DevicePointer pointer_ = 0;
};

struct Step {
    Function function;
    Launch launch;
};

class GpuKernel final : public Kernel {
public:
    GpuKernel(const Driver& driver, const void* image) : module(driver, image) {}
    const CompileInfo& info() const override { return compile_info; }

    LoadedModule module;
    CompileInfo compile_info;
    std::vector<Step> steps;
    std::int64_t workspace_bytes = 0;
    PlantedFault planted = PlantedFault::none;
    // Graphs hold addresses: they go with the buffers and the workspace that they were made for.
    mutable std::unique_ptr<Rotation> rotation;
    mutable DevicePointer rotation_buffers = 0;
    mutable DevicePointer rotation_workspace = 0;
    mutable bool rotation_cold = true;
};

class GpuDevice final : public Device {
public:
    explicit GpuDevice(Platform platform);
    ~GpuDevice() override;
    GpuDevice(const GpuDevice&) = delete;
    GpuDevice& operator=(const GpuDevice&) = delete;

    const DeviceInfo& info() const override { return platform_.info; }
    std::unique_ptr<Kernel> compile(const Problem& problem, const Candidate& candidate) override;
    void compile_ahead(const Problem& problem, const Candidate& candidate) override;
    std::unique_ptr<Buffers> allocate(const Problem& problem, const BufferRequest& request) override;
    std::span<std::byte> staging(std::size_t bytes) override;
    void run(const Kernel& kernel, Buffers& buffers, int set) override;
    SampleBatch sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) override;

private:
    LoadableKernel compile_own(const Configuration& configuration, const Problem& problem);
    void launch(const GpuKernel& kernel, const Step& step, const GpuBuffers& buffers, int set, Stream stream) const;
    void launch_plain(Function function, std::int64_t grid, int block, void** arguments, Stream stream) const;
    void clear_workspace(std::int64_t bytes, Stream stream);
    void evict(Stream stream) const;
    Rotation& kernel_rotation(const GpuKernel& kernel, const GpuBuffers& buffers, bool cold);
    Rotation& copy_rotation(const GpuBuffers& buffers, const SampleRequest& request);
    Enqueue copy_with(DevicePointer place, int unroll, std::int64_t bytes, std::int64_t stride, int sets) const;

    Platform platform_;
    const Driver& driver_;
    const DeviceInfo& info_;
    DeviceId device_ = 0;
    PlantedFaults planted_ = PlantedFaults::from_environment();
    Stream stream_ = nullptr;
    std::unique_ptr<GpuTimer> timer_;
    std::unique_ptr<LoadedModule> utilities_;
    DevicePointer workspace_ = 0;
    std::int64_t workspace_bytes_ = 0;
    void* staging_ = nullptr;  // page-locked
    std::size_t staging_bytes_ = 0;
    DevicePointer eviction_ = 0;
    std::int64_t eviction_bytes_ = 0;
    std::unique_ptr<DeviceMemory> copy_place_;
    std::unique_ptr<Rotation> copy_;
    DevicePointer copy_buffers_ = 0;
    bool copy_cold_ = true;
    std::unique_ptr<Rotation> empty_;
};

GpuDevice::GpuDevice(Platform platform) : platform_(std::move(platform)), driver_(platform_.driver), info_(platform_.info) {
    const auto started = [&](Result result) { check(driver_, result, DeviceFault::launch_failed, "starting the device"); };
    started(driver_.device_get(&device_, info_.ordinal));
    started(driver_.device_use(device_));
    constexpr unsigned ordered_after_the_null_stream = 0;  // uploads and downloads go through that one
    started(driver_.stream_create(&stream_, ordered_after_the_null_stream));
    int wait_value = 0;
    driver_.device_get_attribute(&wait_value, Attribute::can_wait_for_value, device_);
    utilities_ = std::make_unique<LoadedModule>(
        driver_, platform_.toolchain.pool->get(platform_.toolchain.options, SourceText(utility_source))->code.image.data());
    timer_ = std::make_unique<GpuTimer>(
        driver_, stream_, wait_value != 0,
        [this](DevicePointer flag, std::uint32_t ticket) {
            std::array<void*, 2> arguments{&flag, &ticket};
            launch_plain(utilities_->function("nt_gate"), 1, 1, arguments.data(), stream_);
        },
        [this] { return platform_.clocks(info_.id); });
    eviction_bytes_ = 2 * info_.cache_bytes;
    started(driver_.memory_alloc(&eviction_, static_cast<std::size_t>(eviction_bytes_ + 16)));
    started(driver_.set_u32_async(eviction_, 0, static_cast<std::size_t>(eviction_bytes_ / 4 + 4), stream_));
    started(driver_.stream_synchronize(stream_));
}

GpuDevice::~GpuDevice() {
    copy_.reset();
    empty_.reset();
    utilities_.reset();
    driver_.memory_free(eviction_);
    if (staging_ != nullptr) {
        driver_.memory_free_host(staging_);
    }
    if (workspace_ != 0) {
        driver_.memory_free(workspace_);
    }
}

LoadableKernel GpuDevice::compile_own(const Configuration& configuration, const Problem& problem) {
    if (const std::string why = objection(configuration, problem, info_); !why.empty()) {
        throw DeviceError(DeviceFault::unsupported, why);
    }
    const Toolchain& tools = platform_.toolchain;
    LoadableKernel out{tools.pool->get(compile_options(tools, configuration, problem, info_), kernel_source()),
                       launch_plan(configuration, problem, info_),
                       {}};
    out.info = tools.compile_info(*out.compiled, out.plan, info_);
    return out;
}

std::unique_ptr<Kernel> GpuDevice::compile(const Problem& problem, const Candidate& candidate) {
    auto [compiled, plan, told] = candidate.manifest() != nullptr ? load_manifest(*candidate.manifest(), platform_.toolchain, info_)
                                                                  : compile_own(own_configuration(candidate), problem);
    auto kernel = std::make_unique<GpuKernel>(driver_, compiled->code.image.data());
    CompileInfo& info = kernel->compile_info = told;
    kernel->workspace_bytes = plan.workspace_bytes;
    kernel->planted = candidate.configuration() != nullptr ? planted_.of(*candidate.configuration()) : PlantedFault::none;
    if (kernel->planted == PlantedFault::out_of_memory) {
        kernel->workspace_bytes = more_than_any_device;
    }
    const std::string main_kernel = main_launch(plan).kernel;
    for (Launch& launch : plan.launches) {
        const Function function = kernel->module.function(launch.kernel.c_str());
        if (launch.shared_bytes > std::int64_t{48} << 10) {
            check(driver_, driver_.function_allow_shared(function, launch.shared_bytes), DeviceFault::launch_failed,
                  "asking for shared memory");
        }
        kernel->steps.push_back({function, std::move(launch)});
    }
    const int most_threads = attribute(driver_, Attribute::threads_per_compute_unit, device_);
    for (const Step& step : kernel->steps) {
        int programs = 0;
        check(driver_,
              driver_.occupancy_blocks(&programs, step.function, step.launch.threads(), static_cast<std::size_t>(step.launch.shared_bytes)),
              DeviceFault::launch_failed, "asking for the occupancy");
        if (programs == 0) {
            throw DeviceError(DeviceFault::unsupported,
                              fmt::format("not even one program of {} fits on a compute unit", step.launch.kernel));
        }
        if (step.launch.cooperative && step.launch.programs() > std::int64_t{programs} * info_.compute_units) {
            throw DeviceError(DeviceFault::unsupported,
                              fmt::format("a cooperative launch needs all its {} programs resident at once; registers "
                                          "and shared memory leave room for {}",
                                          step.launch.programs(), std::int64_t{programs} * info_.compute_units));
        }
        if (step.launch.kernel == main_kernel) {
            info.occupancy = static_cast<double>(programs * step.launch.threads()) / std::max(1, most_threads);
        }
    }
    return kernel;
}

void GpuDevice::compile_ahead(const Problem& problem, const Candidate& candidate) {
    const Configuration* own = candidate.configuration();
    if (own != nullptr && objection(*own, problem, info_).empty()) {
        platform_.toolchain.pool->ahead(compile_options(platform_.toolchain, *own, problem, info_), kernel_source());
    }
}

std::unique_ptr<Buffers> GpuDevice::allocate(const Problem& problem, const BufferRequest& request) {
    copy_.reset();  // its buffers are gone, and the new ones may lie at the same address
    copy_place_.reset();
    return std::make_unique<GpuBuffers>(driver_, problem, request, stream_);
}

// A copy into pageable memory goes through the driver's own buffers at a fraction of the link's speed.
std::span<std::byte> GpuDevice::staging(std::size_t bytes) {
    if (bytes > staging_bytes_) {
        if (staging_ != nullptr) {
            driver_.memory_free_host(staging_);
        }
        staging_ = nullptr;
        staging_bytes_ = 0;
        constexpr unsigned plain = 0;
        if (driver_.memory_host_alloc(&staging_, bytes, plain) != success) {
            staging_ = nullptr;
            return Device::staging(bytes);  // slower, and no reason to fail
        }
        staging_bytes_ = bytes;
    }
    return {static_cast<std::byte*>(staging_), bytes};
}

void GpuDevice::launch(const GpuKernel& kernel, const Step& step, const GpuBuffers& buffers, int set, Stream stream) const {
    PackedArguments packed;
    for (std::size_t i = 0; i < step.launch.arguments.size(); ++i) {
        const Argument& argument = step.launch.arguments[i];
        std::uint64_t& value = packed.values.at(i);
        switch (argument.source) {
            case Argument::Source::tensor:
                value = kernel.planted == PlantedFault::illegal_address ? no_memory : buffers.pointer(argument.tensor, set);
                break;
            case Argument::Source::workspace:
                value = workspace_ + static_cast<std::uint64_t>(argument.integer);
                break;
            case Argument::Source::null:
                break;
            case Argument::Source::value:
                if (argument.type == ArgumentType::fp32) {
                    std::memcpy(&value, &argument.real, sizeof argument.real);
                } else {
                    std::memcpy(&value, &argument.integer,
                                sizeof argument.integer);  // little-endian: an int32 is its start
                }
        }
        packed.pointers.at(i) = &value;
    }
    const auto& grid = step.launch.grid;
    const auto& block = step.launch.block;
    const LaunchShape shape{static_cast<unsigned>(grid[0]),  static_cast<unsigned>(grid[1]),
                            static_cast<unsigned>(block[0]), static_cast<unsigned>(step.launch.shared_bytes),
                            step.launch.cooperative,         step.launch.overlaps,
                            static_cast<unsigned>(grid[2]),  static_cast<unsigned>(block[1]),
                            static_cast<unsigned>(block[2])};
    check(driver_, driver_.launch_kernel(step.function, shape, packed.pointers.data(), stream), DeviceFault::launch_failed,
          "launching a kernel");
}

void GpuDevice::launch_plain(Function function, std::int64_t grid, int block, void** arguments, Stream stream) const {
    const LaunchShape shape{static_cast<unsigned>(grid), 1, static_cast<unsigned>(block), 0, false, false};
    check(driver_, driver_.launch_kernel(function, shape, arguments, stream), DeviceFault::launch_failed, "launching a kernel");
}

void GpuDevice::clear_workspace(std::int64_t bytes, Stream stream) {
    if (bytes > workspace_bytes_) {
        if (workspace_ != 0) {
            check(driver_, driver_.memory_free(workspace_), DeviceFault::launch_failed, "freeing the workspace");
            workspace_ = 0;
            workspace_bytes_ = 0;
        }
        check(driver_, driver_.memory_alloc(&workspace_, static_cast<std::size_t>(bytes)), DeviceFault::out_of_memory,
              "allocating the workspace");
        workspace_bytes_ = bytes;
    }
    if (bytes > 0) {
        check(driver_, driver_.set_u32_async(workspace_, 0, static_cast<std::size_t>((bytes + 3) / 4), stream), DeviceFault::launch_failed,
              "clearing the workspace");
    }
}

void GpuDevice::run(const Kernel& kernel, Buffers& buffers, int set) {
    const auto& gpu_kernel = static_cast<const GpuKernel&>(kernel);
    clear_workspace(gpu_kernel.workspace_bytes, stream_);
    if (gpu_kernel.planted == PlantedFault::hang) {
        DevicePointer zero = eviction_;
        std::array<void*, 1> arguments{&zero};
        launch_plain(utilities_->function("nt_spin"), 1, 32, arguments.data(), stream_);
    }
    for (const Step& step : gpu_kernel.steps) {
        launch(gpu_kernel, step, static_cast<GpuBuffers&>(buffers), set, stream_);
    }
    check(driver_, driver_.stream_synchronize(stream_), DeviceFault::launch_failed, "running the kernel");
}

void GpuDevice::evict(Stream stream) const {
    DevicePointer from = eviction_;
    DevicePointer never = eviction_ + static_cast<DevicePointer>(eviction_bytes_);
    long long vectors = eviction_bytes_ / 16;
    std::array<void*, 3> arguments{&from, &never, &vectors};
    launch_plain(utilities_->function("nt_read"), std::int64_t{info_.compute_units} * 4, 512, arguments.data(), stream);
}

Rotation& GpuDevice::kernel_rotation(const GpuKernel& kernel, const GpuBuffers& buffers, bool cold) {
    const DevicePointer first = buffers.pointer(TensorRole::x, 0);
    if (kernel.rotation == nullptr || kernel.rotation_buffers != first || kernel.rotation_workspace != workspace_ ||
        kernel.rotation_cold != cold) {
        kernel.rotation = std::make_unique<Rotation>(
            driver_,
            [this, &kernel, &buffers](int set, Stream stream) {
                for (const Step& step : kernel.steps) {
                    launch(kernel, step, buffers, set, stream);
                }
            },
            buffers.sets(), buffers.set_bytes(), info_.cache_bytes);
        kernel.rotation_buffers = first;
        kernel.rotation_workspace = workspace_;
        kernel.rotation_cold = cold;
    }
    return *kernel.rotation;
}

// unroll 0: the driver's own copy.
Enqueue GpuDevice::copy_with(DevicePointer place, int unroll, std::int64_t bytes, std::int64_t stride, int sets) const {
    const Function function = unroll > 0 ? utilities_->function(fmt::format("nt_copy_{}", unroll).c_str()) : nullptr;
    return [this, place, function, unroll, bytes, stride, sets](int set, Stream stream) {
        DevicePointer from = place + static_cast<DevicePointer>(2 * stride * (set % sets));
        DevicePointer to = from + static_cast<DevicePointer>(stride);
        if (function == nullptr) {
            check(driver_, driver_.copy_on_device_async(to, from, static_cast<std::size_t>(bytes), stream), DeviceFault::launch_failed,
                  "copying");
            return;
        }
        long long vectors = bytes / 16;
        constexpr int block = 512;
        const std::int64_t in_program = std::int64_t{block} * unroll;
        const std::int64_t grid = (vectors + in_program - 1) / in_program;
        std::array<void*, 3> arguments{&from, &to, &vectors};
        launch_plain(function, grid, block, arguments.data(), stream);
    };
}

Rotation& GpuDevice::copy_rotation(const GpuBuffers& buffers, const SampleRequest& request) {
    const DevicePointer arena = buffers.pointer(TensorRole::x, 0);
    if (copy_ != nullptr && copy_buffers_ == arena && copy_cold_ == request.cold) {
        return *copy_;
    }
    // As many bytes as the op's least, half of them read and half written, in whole 16-byte vectors, over the kernel's
    // own buffers; `full` moves more than one set holds, so that it may need a place of its own.
    const std::int64_t bytes = std::max<std::int64_t>(16, least_bytes(buffers.problem()) / 2 / 16 * 16);
    const std::int64_t stride = (bytes + 511) / 512 * 512;
    DevicePointer place = buffers.pointer(TensorRole::x, 0);
    int sets = static_cast<int>(buffers.rotation_bytes() / (2 * stride));
    if (sets < 1) {
        sets = 1;
        copy_place_ = std::make_unique<DeviceMemory>(driver_, 2 * stride);
        place = copy_place_->pointer();
    }
    // The fastest plain copy at this size, by a short trial of each.
    double best = 0;
    for (const int unroll : {0, 1, 2, 4, 8}) {
        auto rotation =
            std::make_unique<Rotation>(driver_, copy_with(place, unroll, bytes, stride, sets), sets, 2 * bytes, info_.cache_bytes);
        SampleRequest trial = request;
        trial.samples = 5;
        const double us = median(timer_->sample(*rotation, trial, [this](Stream stream) { evict(stream); }).us);
        if (best == 0 || us < best) {
            best = us;
            copy_ = std::move(rotation);
        }
    }
    copy_buffers_ = arena;
    copy_cold_ = request.cold;
    return *copy_;
}

SampleBatch GpuDevice::sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) {
    const auto& gpu_buffers = static_cast<const GpuBuffers&>(buffers);
    const auto evict_cache = [this](Stream stream) { evict(stream); };
    if (request.kind == SampleKind::copy) {
        return timer_->sample(copy_rotation(gpu_buffers, request), request, evict_cache);
    }
    if (request.kind == SampleKind::empty) {
        if (empty_ == nullptr) {
            const Function function = utilities_->function("nt_empty");
            empty_ = std::make_unique<Rotation>(
                driver_, [this, function](int, Stream stream) { launch_plain(function, 1, 32, nullptr, stream); }, 1, 0, 0);
        }
        return timer_->sample(*empty_, request, evict_cache);
    }
    const auto& gpu_kernel = static_cast<const GpuKernel&>(*kernel);
    clear_workspace(gpu_kernel.workspace_bytes, stream_);
    return timer_->sample(kernel_rotation(gpu_kernel, gpu_buffers, request.cold), request, evict_cache);
}

}  // namespace

std::unique_ptr<Device> open_device(Platform platform) {
    return std::make_unique<GpuDevice>(std::move(platform));
}

}  // namespace normtune::gpu
