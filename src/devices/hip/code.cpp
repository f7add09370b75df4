#include "devices/hip/code.h"

#include <algorithm>

#include <fmt/format.h>

#include "devices/hip/clang.h"
#include "devices/hip/code_object.h"
#include "devices/hip/hiprtc.h"
#include "support/error.h"

namespace normtune::hip {
namespace {

constexpr const char* standard = "-std=c++17";

struct UnitResources {
    int simds;
    int registers;   // of a lane on one of them
    int granule;     // they are given out by as many
    int wavefronts;  // that a SIMD holds at most
    std::int64_t shared_bytes;
};

UnitResources unit_resources(const std::string& arch) {
    constexpr std::int64_t kib = 1 << 10;
    for (const char* large : {"gfx1100", "gfx1101", "gfx1151", "gfx12"}) {
        if (arch.starts_with(large)) {
            return {4, 1536, 24, 16, 128 * kib};
        }
    }
    if (arch.starts_with("gfx1")) {
        return {4, 1024, 16, 16, 128 * kib};
    }
    return {4, 512, 8, 8, 64 * kib};
}

CompileInfo compile_info(const CompilePool::Result& compiled, const gpu::LaunchPlan& plan, const DeviceInfo& device) {
    const gpu::Launch& main = gpu::main_launch(plan);
    CompileInfo info = gpu::common_info(compiled, plan);
    for (const KernelFigures& kernel : kernel_figures(compiled.code.image)) {
        if (kernel.name == main.kernel) {
            info.registers = kernel.vector_registers;
            info.shared_bytes = kernel.shared_bytes + static_cast<int>(main.shared_bytes);
        }
    }
    if (!info.registers || !info.shared_bytes) {
        throw DeviceError(DeviceFault::compile_failed, fmt::format("the code object has no kernel {}", main.kernel));
    }
    const int programs = programs_per_compute_unit(device.arch, device.warp_size, main.threads(), *info.registers, *info.shared_bytes);
    info.occupancy = static_cast<double>(programs * main.threads()) / threads_per_compute_unit(device.arch, device.warp_size);
    return info;
}

/// Whether a compiler gives code for the architecture; `why_not`: what it said.
bool compiles(const std::string& name, const std::string& arch, const CompilePool::Compile& compile, std::string& why_not) {
    try {
        compile({name, arch, {standard}, SourceText("extern \"C\" __attribute__((global)) void probe(int* p) { *p = 1; }")});
        return true;
    } catch (const DeviceError& error) {
        why_not = error.what();
        return false;
    }
}

}  // namespace

int threads_per_compute_unit(const std::string& arch, int warp_size) {
    const UnitResources unit = unit_resources(arch);
    return unit.simds * unit.wavefronts * warp_size;
}

int programs_per_compute_unit(const std::string& arch, int warp_size, int threads, int registers, std::int64_t shared_bytes) {
    const UnitResources unit = unit_resources(arch);
    const int given = (std::max(1, registers) + unit.granule - 1) / unit.granule * unit.granule;
    const int wavefronts = (threads + warp_size - 1) / warp_size;
    const int resident = unit.simds * std::min(unit.wavefronts, unit.registers / given);
    const std::int64_t by_shared = shared_bytes == 0 ? resident : unit.shared_bytes / shared_bytes;
    return static_cast<int>(std::min<std::int64_t>(resident / wavefronts, by_shared));
}

gpu::Toolchain toolchain(const std::string& arch) {
    const auto with = [&](const std::string& name, CompilePool::Compile compile) {
        return gpu::Toolchain{std::make_unique<CompilePool>(name, arch, 0, std::move(compile)), {standard}, compile_info};
    };
    std::string no_hiprtc;
    const std::string hiprtc = hiprtc_name(no_hiprtc);
    if (!hiprtc.empty() && compiles(hiprtc, arch, hiprtc_compile, no_hiprtc)) {
        return with(hiprtc, hiprtc_compile);
    }
    std::string no_clang;
    const std::string clang = clang_name(no_clang);
    if (!clang.empty() && compiles(clang, arch, clang_compile, no_clang)) {
        return with(clang, clang_compile);
    }
    throw InputError(fmt::format("compiling needs hiprtc or clang for {}: {}; {}", arch, no_hiprtc, no_clang));
}

}  // namespace normtune::hip
