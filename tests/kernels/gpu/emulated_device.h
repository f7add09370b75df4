// A Device that compiles the GPU source for the host and runs it on emulation.h, so that the kernels' arithmetic,
// masks, barriers and launch arguments are verified without a GPU.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/device.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"

namespace normtune::testing {

/// warp_size 32 with asynchronous copies (NVIDIA), 64 without (AMD).
inline DeviceInfo emulated_device_info(int warp_size) {
    DeviceInfo info;
    info.backend = warp_size == 64 ? Backend::hip : Backend::cuda;
    info.name = "emulated";
    info.warp_size = warp_size;
    info.compute_units = 3;
    info.shared_bytes_per_program = 64 << 10;
    info.cache_bytes = 1 << 20;
    info.has_async_copy = warp_size == 32;
    return info;
}

class EmulatedKernel : public Kernel {
public:
    using Entry = void (*)(const char* name, int grid_x, int grid_y, int threads, std::int64_t shared, int cooperative,
                           void** arguments);
    EmulatedKernel(gpu::LaunchPlan plan, void* library, Entry call)
        : plan_(std::move(plan)), library_(library), entry_(call) {}
    ~EmulatedKernel() override { dlclose(library_); }
    const CompileInfo& info() const override { return info_; }
    const gpu::LaunchPlan& plan() const { return plan_; }
    Entry entry() const { return entry_; }

private:
    gpu::LaunchPlan plan_;
    void* library_;
    Entry entry_;
    CompileInfo info_;
};

class EmulatedBuffers : public Buffers {
public:
    explicit EmulatedBuffers(const Problem& problem) {
        for (const Tensor& tensor : tensors(problem)) {
            data[tensor.role].resize(static_cast<std::size_t>(tensor.span_bytes()) + 16);
        }
    }
    int sets() const override { return 1; }
    std::int64_t rotation_bytes() const override { return 0; }
    void upload(TensorRole role, int, std::span<const std::byte> bytes) override {
        std::memcpy(at(role), bytes.data(), bytes.size());
    }
    void download(TensorRole role, int, std::span<std::byte> bytes) const override {
        std::memcpy(bytes.data(), const_cast<EmulatedBuffers*>(this)->at(role), bytes.size());
    }
    std::byte* at(TensorRole role) {
        const auto address = reinterpret_cast<std::uintptr_t>(data.at(role).data());
        return reinterpret_cast<std::byte*>((address + 15) / 16 * 16);
    }
    std::map<TensorRole, std::vector<std::byte>> data;
    std::vector<std::uint64_t> workspace;  // stays between launches, as on a device
};

class EmulatedDevice : public Device {
public:
    explicit EmulatedDevice(int warp_size) : info_(emulated_device_info(warp_size)) {}
    const DeviceInfo& info() const override { return info_; }

    std::unique_ptr<Kernel> compile(const Problem& problem, const Configuration& configuration) override {
        if (const std::string why = gpu::objection(configuration, problem, info_); !why.empty()) {
            throw DeviceError(DeviceFault::unsupported, why);
        }
        const std::string base = new_file_name();
        gpu::LaunchPlan plan = gpu::launch_plan(configuration, problem, info_);
        write_source(base + ".cpp", problem, configuration, plan);
        const std::string command = fmt::format(
            "{} -std=c++20 -O1 -fno-strict-aliasing -w -shared -fPIC -pthread -I{}/tests/kernels/gpu {}.cpp -o {}.so "
            "2> {}.log",
            NORMTUNE_CXX, NORMTUNE_SOURCE_DIR, base, base, base);
        if (std::system(command.c_str()) != 0) {
            std::ifstream log(base + ".log");
            throw DeviceError(DeviceFault::compile_failed,
                              std::string(std::istreambuf_iterator<char>(log), {}).substr(0, 2000));
        }
        void* library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
        auto entry = library == nullptr ? nullptr : reinterpret_cast<EmulatedKernel::Entry>(dlsym(library, "emulate"));
        if (entry == nullptr) {
            throw DeviceError(DeviceFault::compile_failed, dlerror());
        }
        return std::make_unique<EmulatedKernel>(std::move(plan), library, entry);
    }

    std::unique_ptr<Buffers> allocate(const Problem& problem, const BufferRequest&) override {
        return std::make_unique<EmulatedBuffers>(problem);
    }

    void run(const Kernel& kernel, Buffers& buffers, int) override {
        const auto& emulated = dynamic_cast<const EmulatedKernel&>(kernel);
        auto& memory = dynamic_cast<EmulatedBuffers&>(buffers);
        // Zeroed once; each launch must leave it ready for the next.
        memory.workspace.resize(static_cast<std::size_t>(emulated.plan().workspace_bytes) / 8 + 1);
        for (const gpu::Launch& launch : emulated.plan().launches) {
            std::vector<std::uint64_t> values(launch.arguments.size());
            std::vector<void*> pointers;
            for (std::size_t i = 0; i < values.size(); ++i) {
                store(launch.arguments[i], memory, values[i]);
                pointers.push_back(&values[i]);
            }
            emulated.entry()(launch.kernel.c_str(), static_cast<int>(launch.grid_x), static_cast<int>(launch.grid_y),
                             launch.block, launch.shared_bytes, launch.cooperative ? 1 : 0, pointers.data());
        }
    }

    SampleBatch sample(const Kernel*, Buffers&, const SampleRequest&) override {
        throw DeviceError(DeviceFault::unsupported, "an emulated device has no time");
    }

private:
    // A folder for the whole process: the loader takes a library for one it has already if their inodes are the same.
    struct Folder {
        std::filesystem::path path =
            std::filesystem::temp_directory_path() / fmt::format("normtune-emulation-{}", getpid());
        int files = 0;
        Folder() { std::filesystem::create_directories(path); }
        ~Folder() { std::filesystem::remove_all(path); }
    };
    static std::string new_file_name() {
        static Folder folder;
        return (folder.path / fmt::format("kernel{}", folder.files++)).string();
    }

    static void store(const gpu::Argument& argument, EmulatedBuffers& memory, std::uint64_t& out) {
        out = 0;
        if (argument.source == gpu::Argument::Source::tensor) {
            void* p = memory.at(argument.tensor);
            std::memcpy(&out, &p, sizeof p);
        } else if (argument.source == gpu::Argument::Source::workspace) {
            void* p = reinterpret_cast<std::byte*>(memory.workspace.data()) + argument.integer;
            std::memcpy(&out, &p, sizeof p);
        } else if (argument.type == gpu::ArgumentType::fp32) {
            std::memcpy(&out, &argument.real, sizeof argument.real);
        } else {
            std::memcpy(&out, &argument.integer, sizeof argument.integer);  // little-endian: int32 is its low half
        }
    }

    /// The source with its macros, and one entry that calls the kernels by name with arguments by address.
    void write_source(const std::string& path, const Problem& problem, const Configuration& configuration,
                      const gpu::LaunchPlan& plan) const {
        std::ofstream out(path);
        for (const gpu::Macro& macro : gpu::macros(configuration, problem, info_)) {
            out << "#define " << macro.name << ' ' << macro.value << '\n';
        }
        out << "#define NT_EMULATE_ASYNC_COPY " << (info_.has_async_copy ? 1 : 0) << "\n#include \"emulation.h\"\n"
            << gpu::source();
        out << "template <class... A, std::size_t... I>\nvoid call(void (*f)(A...), void** a, "
               "std::index_sequence<I...>) { f(*static_cast<std::remove_reference_t<A>*>(a[I])...); }\n"
               "template <class... A>\nvoid call(void (*f)(A...), void** a) { call(f, a, "
               "std::index_sequence_for<A...>{}); }\n"
               "extern \"C\" void emulate(const char* name, int x, int y, int threads, long long shared, int "
               "cooperative, void** a) {\n";
        for (const gpu::Launch& launch : plan.launches) {
            out << "    if (std::strcmp(name, \"" << launch.kernel
                << "\") == 0) emulation::run_grid(x, y, threads, shared, cooperative != 0, [=] { call(" << launch.kernel
                << ", a); });\n";
        }
        out << "}\n";
    }

    DeviceInfo info_;
};

}  // namespace normtune::testing
