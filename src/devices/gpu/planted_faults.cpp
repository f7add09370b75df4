#include "devices/gpu/planted_faults.h"

#include <array>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "devices/gpu/gpu_kernel.h"
#include "devices/gpu/owned.h"
#include "support/error.h"

namespace normtune::gpu {

namespace {

constexpr const char* variable = "NORMTUNE_PLANT_FAULTS";

// nt_spin: never ends where *zero stays 0.
constexpr const char* source_of_faults = R"gpu(
#if defined(__AMDGCN__)
#define NT_KERNEL extern "C" __attribute__((global)) void
#else
#define NT_KERNEL extern "C" __global__ void
#endif
NT_KERNEL nt_spin(const volatile int* zero) {
    while (*zero == 0) {}
}
NT_KERNEL nt_spoil(volatile int* nowhere) { *nowhere = 1; }
)gpu";

constexpr DevicePointer no_memory = 0x1000;
constexpr std::int64_t more_than_any_device = std::int64_t{1} << 50;

struct FaultyKernel final : Kernel {
    FaultyKernel(std::unique_ptr<Kernel> sound, PlantedFault planted) : kernel(std::move(sound)), fault(planted) {}
    const CompileInfo& info() const override { return kernel->info(); }
    std::unique_ptr<Kernel> kernel;
    PlantedFault fault;
};

class FaultyDevice final : public Device {
public:
    FaultyDevice(std::unique_ptr<Device> device, const Driver& driver, const void* image, PlantedFaults faults)
        : device_(std::move(device)),
          driver_(driver),
          module_(load_module(driver, image)),
          zero_(gpu::allocate(driver, sizeof(std::uint32_t), "planting faults")),
          faults_(std::move(faults)) {
        check(driver_, driver_.set_u32_async(zero_.get(), 0, 1, null_stream), DeviceFault::launch_failed, "planting faults");
    }

    const DeviceInfo& info() const override { return device_->info(); }
    std::unique_ptr<Kernel> compile(const Problem& problem, const Candidate& candidate) override {
        return std::make_unique<FaultyKernel>(device_->compile(problem, candidate), faults_.of(candidate));
    }
    void compile_ahead(const Problem& problem, const Candidate& candidate) override { device_->compile_ahead(problem, candidate); }
    std::unique_ptr<Buffers> allocate(const Problem& problem, const BufferRequest& request) override {
        return device_->allocate(problem, request);
    }
    std::span<std::byte> staging(std::size_t bytes) override { return device_->staging(bytes); }
    void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override {
        const auto& faulty = static_cast<const FaultyKernel&>(kernel);
        commit(faulty.fault);
        device_->run(*faulty.kernel, buffers, set, workspace);
    }
    Window next_window(const Kernel& kernel, const Buffers& buffers, bool cold) const override {
        return device_->next_window(*static_cast<const FaultyKernel&>(kernel).kernel, buffers, cold);
    }
    std::unique_ptr<DeviceProgram> load(const ProgramSource& source) override { return device_->load(source); }
    SampleBatch sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) override {
        return device_->sample(kernel == nullptr ? nullptr : static_cast<const FaultyKernel*>(kernel)->kernel.get(), buffers, request);
    }

private:
    static constexpr Stream null_stream = nullptr;

    void commit(PlantedFault fault) {
        switch (fault) {
            case PlantedFault::none:
                return;
            case PlantedFault::out_of_memory:
                gpu::allocate(driver_, more_than_any_device, "allocating the workspace");
                return;
            case PlantedFault::illegal_address:
                launch("nt_spoil", no_memory);
                return;
            case PlantedFault::hang:
                launch("nt_spin", zero_.get());
        }
    }

    void launch(const char* kernel, DevicePointer argument) {
        std::array<void*, 1> arguments{&argument};
        launch_plain(driver_, function_of(driver_, module_, kernel), 1, 32, arguments.data(), null_stream);
        check(driver_, driver_.stream_synchronize(null_stream), DeviceFault::launch_failed, "running the kernel");
    }

    std::unique_ptr<Device> device_;
    const Driver& driver_;
    OwnedModule module_;
    OwnedMemory zero_;
    PlantedFaults faults_;
};

}  // namespace

PlantedFaults PlantedFaults::from_environment() {
    PlantedFaults out;
    const char* text = std::getenv(variable);
    std::stringstream stream(text == nullptr ? "" : text);
    for (std::string one; std::getline(stream, one, ';');) {
        const std::size_t equals = one.find('=');
        const auto fault = planted_fault_names.find(one.substr(0, equals));
        if (equals == std::string::npos || !fault) {
            throw InputError(fmt::format("{}: {} is no planted fault; it reads like {}=KEY", variable, quoted_for_message(one),
                                         fmt::join(planted_fault_names.names, "|")));
        }
        out.faults_[Candidate::parse(one.substr(equals + 1)).identity()] = *fault;
    }
    return out;
}

PlantedFault PlantedFaults::of(const Candidate& candidate) const {
    const auto found = faults_.find(candidate.identity());
    return found == faults_.end() ? PlantedFault::none : found->second;
}

std::string planted_faults_warning() {
    const char* const planted = std::getenv(variable);
    return planted == nullptr || *planted == '\0'
               ? ""
               : fmt::format("{} plants faults in this run, for tests: {}", variable, quoted_for_message(planted));
}

const SourceText& planted_source() {
    static const SourceText text{source_of_faults};
    return text;
}

std::unique_ptr<Device> plant(std::unique_ptr<Device> device, const Driver& driver, const void* image, PlantedFaults faults) {
    return std::make_unique<FaultyDevice>(std::move(device), driver, image, std::move(faults));
}

}  // namespace normtune::gpu
