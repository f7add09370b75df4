#include "devices/hip/code.h"

#include <algorithm>

#include <fmt/format.h>

#include "devices/compile_pool.h"
#include "devices/hip/clang.h"
#include "devices/hip/code_object.h"
#include "devices/hip/hiprtc.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "support/error.h"

namespace normtune::hip {
namespace {

struct RegisterFile {
    int simds;       // of a compute unit
    int registers;   // of a lane on one of them
    int granule;     // they are given out by as many
    int wavefronts;  // that a SIMD holds at most
};

RegisterFile register_file(const std::string& arch) {
    if (arch.starts_with("gfx11")) {
        return {2, 1536, 24, 16};
    }
    if (arch.starts_with("gfx10")) {
        return {2, 1024, 16, 16};
    }
    return {4, 512, 8, 8};
}

const gpu::Launch& main_launch(const gpu::LaunchPlan& plan) {
    const auto found = std::find_if(plan.launches.begin(), plan.launches.end(),
                                    [](const gpu::Launch& launch) { return launch.kernel == "nt_backward"; });
    return found != plan.launches.end() ? *found : plan.launches.front();
}

CompileInfo compile_info(const CompilePool::Result& compiled, const gpu::LaunchPlan& plan, const DeviceInfo& device) {
    const gpu::Launch& main = main_launch(plan);
    CompileInfo info;
    info.compile_ms = compiled.from_cache ? 0 : compiled.code.compile_ms;
    info.from_cache = compiled.from_cache;
    info.code_hash = content_hash(compiled.code.image.data(), compiled.code.image.size());
    for (const KernelFigures& kernel : kernel_figures(compiled.code.image)) {
        if (kernel.name == main.kernel) {
            info.registers = kernel.vector_registers;
            info.shared_bytes = kernel.shared_bytes + static_cast<int>(main.shared_bytes);
        }
    }
    if (!info.registers || !info.shared_bytes) {
        throw DeviceError(DeviceFault::compile_failed, fmt::format("the code object has no kernel {}", main.kernel));
    }
    info.spill_bytes = compiled.code.spill_bytes;
    const int programs =
        programs_per_compute_unit(device.arch, device.warp_size, main.block, *info.registers, *info.shared_bytes);
    info.occupancy =
        static_cast<double>(programs * main.block) / threads_per_compute_unit(device.arch, device.warp_size);
    info.workspace_bytes = plan.workspace_bytes;
    info.programs = main.grid_x * main.grid_y;
    return info;
}

class Offline final : public CodeCompiler {
public:
    Offline(const DeviceInfo& device, std::string compiler, CompilePool::Compile compile)
        : device_(device), pool_(std::move(compiler), device.arch, 0, std::move(compile)) {}

    std::string name() const override { return pool_.name(); }

    void ahead(const Problem& problem, const Configuration& configuration) override {
        if (gpu::objection(configuration, problem, device_).empty()) {
            pool_.ahead(compile_options(configuration, problem, device_), gpu::source());
        }
    }

    CompileInfo compile(const Problem& problem, const Configuration& configuration) override {
        if (const std::string objection = gpu::objection(configuration, problem, device_); !objection.empty()) {
            throw DeviceError(DeviceFault::unsupported, objection);
        }
        const auto compiled = pool_.get(compile_options(configuration, problem, device_), gpu::source());
        return compile_info(*compiled, gpu::launch_plan(configuration, problem, device_), device_);
    }

    std::vector<std::byte> image(const Problem& problem, const Configuration& configuration) override {
        return pool_.get(compile_options(configuration, problem, device_), gpu::source())->code.image;
    }

private:
    DeviceInfo device_;
    CompilePool pool_;
};

/// Whether a compiler gives code for the architecture; `why_not`: what it said.
bool compiles(const std::string& name, const std::string& arch, const CompilePool::Compile& compile,
              std::string& why_not) {
    try {
        compile({name, arch, {"-std=c++17"}, "extern \"C\" __attribute__((global)) void probe(int* p) { *p = 1; }"});
        return true;
    } catch (const DeviceError& error) {
        why_not = error.what();
        return false;
    }
}

}  // namespace

std::vector<std::string> compile_options(const Configuration& configuration, const Problem& problem,
                                         const DeviceInfo& device) {
    std::vector<std::string> options = gpu::define_options(gpu::macros(configuration, problem, device));
    options.emplace_back("-std=c++17");
    return options;
}

int threads_per_compute_unit(const std::string& arch, int warp_size) {
    const RegisterFile file = register_file(arch);
    return file.simds * file.wavefronts * warp_size;
}

int programs_per_compute_unit(const std::string& arch, int warp_size, int threads, int registers,
                              std::int64_t shared_bytes) {
    constexpr std::int64_t shared_of_a_unit = 64 << 10;
    const RegisterFile file = register_file(arch);
    const int given = (std::max(1, registers) + file.granule - 1) / file.granule * file.granule;
    const int wavefronts = (threads + warp_size - 1) / warp_size;
    const int resident = file.simds * std::min(file.wavefronts, file.registers / given);
    const std::int64_t by_shared = shared_bytes == 0 ? resident : shared_of_a_unit / shared_bytes;
    return static_cast<int>(std::min<std::int64_t>(resident / wavefronts, by_shared));
}

std::unique_ptr<CodeCompiler> open_compiler(const DeviceInfo& device) {
    std::string no_hiprtc;
    const std::string hiprtc = hiprtc_name(no_hiprtc);
    if (!hiprtc.empty() && compiles(hiprtc, device.arch, hiprtc_compile, no_hiprtc)) {
        return std::make_unique<Offline>(device, hiprtc, hiprtc_compile);
    }
    std::string no_clang;
    const std::string clang = clang_name(no_clang);
    if (!clang.empty() && compiles(clang, device.arch, clang_compile, no_clang)) {
        return std::make_unique<Offline>(device, clang, clang_compile);
    }
    throw InputError(fmt::format("--compile needs hiprtc or clang for {}: {}; {}", device.arch, no_hiprtc, no_clang));
}

}  // namespace normtune::hip
