#include "devices/cuda/code.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "devices/cuda/nvrtc.h"
#include "support/error.h"

namespace normtune::cuda {
namespace {

constexpr int warp = 32;

CompileInfo compile_info(const CompilePool::Result& compiled, const gpu::LaunchPlan& plan, const DeviceInfo& device) {
    const gpu::Launch& main = gpu::main_launch(plan);
    CompileInfo info = gpu::common_info(compiled, plan);
    const KernelUse use = use_of(compiled.code.log, main.kernel);
    info.registers = use.registers;
    info.shared_bytes = use.shared_bytes + static_cast<int>(main.shared_bytes);
    const int programs = programs_per_multiprocessor(device.threads_per_compute_unit, device.shared_bytes_per_program, main.threads(),
                                                     *info.registers, *info.shared_bytes);
    info.occupancy = static_cast<double>(programs * main.threads()) / device.threads_per_compute_unit;
    return info;
}

}  // namespace

int programs_per_multiprocessor(int most_threads, std::int64_t shared_bytes_per_program, int threads, int registers,
                                std::int64_t shared_bytes) {
    constexpr int register_file = 65536;
    constexpr int register_unit = 256;
    constexpr std::int64_t system_shared = 1024;
    constexpr int most_programs = 32;  // 16 and 24 on the smaller chips: only programs under 96 threads come to that
    const int warps = (threads + warp - 1) / warp;
    const int per_warp = (registers * warp + register_unit - 1) / register_unit * register_unit;
    const int by_registers = per_warp == 0 ? most_programs : register_file / per_warp / warps;
    const std::int64_t by_shared = (shared_bytes_per_program + system_shared) / (shared_bytes + system_shared);
    return static_cast<int>(std::min<std::int64_t>({most_programs, most_threads / (warps * warp), by_registers, by_shared}));
}

// "… Compiling entry function 'nt_reduce' for 'sm_90'", some lines later "… Used 40 registers, used 1 barriers, 1024 bytes smem".
KernelUse use_of(std::string_view log, std::string_view kernel) {
    const std::size_t entry = log.find(fmt::format("'{}'", kernel));
    const std::size_t used = entry == std::string_view::npos ? entry : log.find("Used ", entry);
    KernelUse out;
    if (used != std::string_view::npos) {
        std::string_view line = log.substr(used + 5);
        line = line.substr(0, line.find('\n'));
        std::from_chars(line.data(), line.data() + line.size(), out.registers);
        if (const std::size_t unit = line.find(" bytes smem"); unit != std::string_view::npos) {
            const std::size_t before = line.rfind(' ', unit - 1);
            std::from_chars(line.data() + before + 1, line.data() + unit, out.shared_bytes);
        }
    }
    return out;
}

gpu::Toolchain toolchain(const std::string& arch) {
    std::string why_not;
    const std::string version = nvrtc_version(why_not);
    if (version.empty()) {
        throw InputError(fmt::format("compiling needs NVRTC: {}", why_not));
    }
    const std::vector<int> known = nvrtc_architectures();
    const bool compiles = std::any_of(known.begin(), known.end(), [&](int number) { return fmt::format("sm_{}", number) == arch; });
    if (!compiles) {
        throw InputError(fmt::format("NVRTC {} does not compile for {}; it knows sm_{}", version, arch, fmt::join(known, ", sm_")));
    }
    gpu::Toolchain out{
        std::make_unique<CompilePool>(nvrtc_name(), arch, 0, nvrtc_compile), {"--std=c++17"}, compile_info, nvrtc_header_folders()};
    if (nvrtc_knows_minimal()) {
        out.own_options.emplace_back("--minimal");  // textures and device-side launches are not even declared: less to parse, the same code
    }
    return out;
}

}  // namespace normtune::cuda
