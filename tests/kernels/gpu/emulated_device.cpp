#include "kernels/gpu/emulated_device.h"

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/gpu/emulation/compiled_kernels.h"
#include "kernels/gpu/emulation/machine.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "kernels/gpu/source_parts.h"
#include "trial/launch_manifest.h"

namespace normtune::testing {
namespace {

class EmulatedKernel : public Kernel {
public:
    EmulatedKernel(gpu::LaunchPlan plan_, std::shared_ptr<emulation::CompiledKernels> code_)
        : plan(std::move(plan_)), code(std::move(code_)) {}
    const CompileInfo& info() const override { return info_; }

    const gpu::LaunchPlan plan;
    const std::shared_ptr<emulation::CompiledKernels> code;

private:
    CompileInfo info_;
};

class EmulatedBuffers : public Buffers {
public:
    EmulatedBuffers(const Problem& problem, std::shared_ptr<EmulatedMemory> memory)
        : tensors_(tensors(problem)), memory_(std::move(memory)) {
        for (const Tensor& tensor : tensors_) {
            data_[tensor.role].resize(static_cast<std::size_t>(tensor.span_bytes()) + 16);
            const std::int64_t bytes = tensor.span_bytes();
            (*memory_)[at(tensor.role)] = {std::string(tensor_names.name(tensor.role)), at(tensor.role), 1, bytes, bytes, true};
        }
    }
    ~EmulatedBuffers() override {
        for (const Tensor& tensor : tensors_) {
            memory_->erase(at(tensor.role));
        }
    }
    int sets() const override { return 1; }
    std::int64_t rotation_bytes() const override { return 0; }
    void upload(TensorRole role, int, std::span<const std::byte> bytes) override { std::memcpy(at(role), bytes.data(), bytes.size()); }
    void download(TensorRole role, int, std::span<std::byte> bytes) const override {
        std::memcpy(bytes.data(), const_cast<EmulatedBuffers*>(this)->at(role), bytes.size());
    }
    std::uint64_t address(TensorRole role, int) const override {
        return data_.contains(role) ? reinterpret_cast<std::uint64_t>(const_cast<EmulatedBuffers*>(this)->at(role)) : 0;
    }
    std::byte* at(TensorRole role) {
        const auto address = reinterpret_cast<std::uintptr_t>(data_.at(role).data());
        return reinterpret_cast<std::byte*>((address + 15) / 16 * 16);
    }
    std::byte* workspace() { return reinterpret_cast<std::byte*>(workspace_.data()); }

    /// What kernels may access.
    std::vector<emulation::Span> spans(std::int64_t workspace_bytes, Workspace left) {
        std::vector<emulation::Span> out;
        for (const Tensor& tensor : tensors_) {
            const std::int64_t element = bytes_of(tensor.dtype);
            out.push_back({std::string(tensor_names.name(tensor.role)), at(tensor.role), tensor.rows, tensor.cols * element,
                           tensor.row_stride * element, tensor.access != Access::in});
        }
        if (left == Workspace::cleared) {
            workspace_.clear();
        }
        workspace_.resize(static_cast<std::size_t>(workspace_bytes + 15) / 16);
        if (workspace_bytes > 0) {
            out.push_back({"workspace", workspace(), 1, workspace_bytes, workspace_bytes, true});
        }
        return out;
    }

private:
    struct alignas(16) Piece {
        std::byte bytes[16];
    };
    std::vector<Tensor> tensors_;
    std::map<TensorRole, std::vector<std::byte>> data_;
    std::vector<Piece> workspace_;
    std::shared_ptr<EmulatedMemory> memory_;
};

class EmulatedProgramMemory final : public DeviceMemory {
public:
    EmulatedProgramMemory(std::int64_t bytes, std::shared_ptr<EmulatedMemory> memory)
        : words_(static_cast<std::size_t>(bytes + 7) / 8), memory_(std::move(memory)) {
        (*memory_)[start()] = {"the oracle's", start(), 1, bytes, bytes, true};
    }
    ~EmulatedProgramMemory() override { memory_->erase(start()); }
    std::uint64_t address() const override { return reinterpret_cast<std::uint64_t>(words_.data()); }
    void write(std::span<const std::byte> bytes) override { std::memcpy(words_.data(), bytes.data(), bytes.size()); }
    void read(std::span<std::byte> bytes) const override { std::memcpy(bytes.data(), words_.data(), bytes.size()); }

private:
    std::byte* start() { return reinterpret_cast<std::byte*>(words_.data()); }

    std::vector<std::uint64_t> words_;
    std::shared_ptr<EmulatedMemory> memory_;
};

class EmulatedProgram final : public DeviceProgram {
public:
    EmulatedProgram(const std::string& source, int warp_size, std::shared_ptr<EmulatedMemory> memory)
        : warp_size_(warp_size), memory_(std::move(memory)) {
        std::vector<emulation::CompiledKernels::Signature> kernels;
        for (const char* name : {"rows", "columns", "total", "forward", "backward", "dgamma"}) {
            kernels.push_back({fmt::format("nt_oracle_{}", name), 1});
        }
        kernels.push_back({"nt_oracle_digest", 4});
        kernels.push_back({"nt_oracle_copy", 4});
        code_ = emulation::CompiledKernels::compile(source, {false, 0}, kernels);
    }
    std::unique_ptr<DeviceMemory> allocate(std::int64_t bytes) override { return std::make_unique<EmulatedProgramMemory>(bytes, memory_); }
    void launch(const char* kernel, std::int64_t programs, std::span<const std::uint64_t> arguments) override {
        std::vector<emulation::Span> spans;
        for (const auto& [start, span] : *memory_) {
            spans.push_back(span);
        }
        std::vector<std::uint64_t> values(arguments.begin(), arguments.end());
        std::vector<void*> pointers;
        for (std::uint64_t& value : values) {
            pointers.push_back(&value);
        }
        emulation::LaunchRequest request;
        request.kernel = code_->entry(kernel);
        request.arguments = pointers.data();
        request.grid_x = static_cast<int>(programs);
        request.threads = 256;
        request.warp_size = warp_size_;
        request.static_shared = code_->static_shared();
        request.static_shared_bytes = code_->static_shared_bytes();
        if (const std::string wrong = emulation::Machine(std::move(spans)).launch(request); !wrong.empty()) {
            throw DeviceError(DeviceFault::launch_failed, fmt::format("{}: {}", kernel, wrong));
        }
    }

private:
    int warp_size_;
    std::shared_ptr<EmulatedMemory> memory_;
    std::shared_ptr<emulation::CompiledKernels> code_;
};

std::uint64_t stored(const gpu::Argument& argument, EmulatedBuffers& memory) {
    std::uint64_t out = 0;
    if (argument.source == gpu::Argument::Source::tensor) {
        out = reinterpret_cast<std::uintptr_t>(memory.at(argument.tensor));
    } else if (argument.source == gpu::Argument::Source::workspace) {
        out = reinterpret_cast<std::uintptr_t>(memory.workspace() + argument.integer);
    } else if (argument.type == gpu::ArgumentType::fp32) {
        std::memcpy(&out, &argument.real, sizeof argument.real);
    } else {
        std::memcpy(&out, &argument.integer, sizeof argument.integer);  // little-endian: int32 is its low half
    }
    return out;
}

/// The whole source; its parts keep their names and line numbers, for what the machine tells.
std::string source_by_parts() {
    std::string text(gpu::source());
    for (const gpu::SourcePart& part : gpu::source_parts()) {
        text.insert(text.find(part.text), fmt::format("#line 1 \"{}\"\n", part.path));
    }
    return text;
}

/// A source of somebody else with its macros, in the machine's terms.
std::string others_source(const LaunchManifest& manifest) {
    std::string out = "#include \"kernels/gpu/emulation/cuda_words.h\"\n";
    for (const std::string& option : compiler_options(manifest.options)) {
        if (const std::size_t equals = option.find('='); option.starts_with("-D") && equals != std::string::npos) {
            out += fmt::format("#define {} {}\n", option.substr(2, equals - 2), option.substr(equals + 1));
        }
    }
    return out + read_code(manifest);
}

}  // namespace

DeviceInfo emulated_device_info(int warp_size) {
    DeviceInfo info;
    info.backend = warp_size == 64 ? Backend::hip : Backend::cuda;
    info.arch = warp_size == 64 ? "gfx90a" : "sm_90";
    info.name = "emulated";
    info.warp_size = warp_size;
    info.compute_units = 3;
    info.shared_bytes_per_program = (warp_size == 32 ? 227 : 64) << 10;
    info.cache_bytes = 1 << 20;
    info.has_async_copy = warp_size == 32;
    return info;
}

EmulatedDevice::EmulatedDevice(int warp_size, EmulationOptions options)
    : info_(emulated_device_info(warp_size)), options_(std::move(options)) {}

EmulatedDevice::~EmulatedDevice() = default;

std::unique_ptr<Kernel> EmulatedDevice::compile(const Problem& problem, const Candidate& candidate) {
    const LaunchManifest* manifest = candidate.manifest().get();
    if (manifest != nullptr && manifest->is_source()) {
        return compiled(manifest->plan, others_source(*manifest));
    }
    // Another manifest's code is what its configuration makes: what it says of the launches is what is tried.
    const Configuration configuration = manifest != nullptr ? Configuration::parse(manifest->key) : own_configuration(candidate);
    if (const std::string why = gpu::objection(configuration, problem, info_); !why.empty()) {
        throw DeviceError(DeviceFault::unsupported, why);
    }
    if (!options_.supports(problem.shape)) {
        throw DeviceError(DeviceFault::unsupported, "a shape that is left out");
    }
    std::string source;
    for (const gpu::Macro& macro : gpu::macros(configuration, problem, info_)) {
        source += fmt::format("#define {} {}\n", macro.name, macro.value);
    }
    source += options_.edit ? options_.edit(source_by_parts()) : source_by_parts();
    gpu::LaunchPlan plan = manifest != nullptr ? manifest->plan : gpu::launch_plan(configuration, problem, info_);
    return compiled(std::move(plan), source);
}

std::unique_ptr<Kernel> EmulatedDevice::compiled(gpu::LaunchPlan plan, const std::string& source) const {
    std::vector<emulation::CompiledKernels::Signature> kernels;
    for (const gpu::Launch& launch : plan.launches) {
        kernels.push_back({launch.kernel, launch.arguments.size()});
    }
    // Named barriers and asynchronous copies as each of the two vendors has them.
    const emulation::CompiledKernels::Features features{info_.has_async_copy, info_.backend == Backend::cuda ? 15 : 0};
    return std::make_unique<EmulatedKernel>(std::move(plan), emulation::CompiledKernels::compile(source, features, kernels));
}

std::unique_ptr<Buffers> EmulatedDevice::allocate(const Problem& problem, const BufferRequest&) {
    return std::make_unique<EmulatedBuffers>(problem, memory_);
}

std::unique_ptr<DeviceProgram> EmulatedDevice::load(const ProgramSource& source) {
    if (!options_.has_programs) {
        return nullptr;
    }
    std::string text(source.common);
    for (const std::string_view part : source.parts) {
        text += part;
    }
    return std::make_unique<EmulatedProgram>(options_.edit_program ? options_.edit_program(text) : text, info_.warp_size, memory_);
}

void EmulatedDevice::run(const Kernel& kernel, Buffers& buffers, int, Workspace workspace) {
    const auto& emulated = dynamic_cast<const EmulatedKernel&>(kernel);
    auto& memory = dynamic_cast<EmulatedBuffers&>(buffers);
    emulation::Machine machine(memory.spans(emulated.plan.workspace_bytes, workspace));
    for (const gpu::Launch& launch : emulated.plan.launches) {
        std::vector<std::uint64_t> values;
        for (const gpu::Argument& argument : launch.arguments) {
            values.push_back(stored(argument, memory));
        }
        std::vector<void*> pointers;
        for (std::uint64_t& value : values) {
            pointers.push_back(&value);
        }
        emulation::LaunchRequest request;
        request.kernel = emulated.code->entry(launch.kernel);
        request.arguments = pointers.data();
        request.grid_x = static_cast<int>(launch.grid[0]);
        request.grid_y = static_cast<int>(launch.grid[1]);
        request.cluster = launch.cluster[0];
        request.threads = static_cast<int>(launch.threads());
        request.warp_size = info_.warp_size;
        request.shared_bytes = launch.shared_bytes;
        request.static_shared = emulated.code->static_shared();
        request.static_shared_bytes = emulated.code->static_shared_bytes();
        request.cooperative = launch.cooperative;
        request.overlaps = launch.overlaps;
        if (const std::string wrong = machine.launch(request); !wrong.empty()) {
            throw DeviceError(DeviceFault::launch_failed, fmt::format("{}: {}", launch.kernel, wrong));
        }
    }
}

SampleBatch EmulatedDevice::sample(const Kernel*, Buffers&, const SampleRequest&) {
    throw DeviceError(DeviceFault::unsupported, "an emulated device has no time");
}

}  // namespace normtune::testing
