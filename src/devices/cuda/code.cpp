#include "devices/cuda/code.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "devices/cuda/nvrtc.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "support/error.h"

namespace normtune::cuda {
namespace {

constexpr int warp = 32;

class Nvrtc final : public CodeCompiler {
public:
    explicit Nvrtc(const DeviceInfo& device) : device_(device), compiler_(device.arch, 0) {}

    std::string name() const override { return compiler_.name(); }

    void ahead(const Problem& problem, const Configuration& configuration) override {
        if (gpu::objection(configuration, problem, device_).empty()) {
            compiler_.ahead(compile_options(configuration, problem, device_), gpu::source());
        }
    }

    CompileInfo compile(const Problem& problem, const Configuration& configuration) override {
        if (const std::string objection = gpu::objection(configuration, problem, device_); !objection.empty()) {
            throw DeviceError(DeviceFault::unsupported, objection);
        }
        const auto compiled = compiler_.get(compile_options(configuration, problem, device_), gpu::source());
        return compile_info(*compiled, gpu::launch_plan(configuration, problem, device_), device_);
    }

    std::vector<std::byte> image(const Problem& problem, const Configuration& configuration) override {
        return compiler_.get(compile_options(configuration, problem, device_), gpu::source())->code.image;
    }

private:
    DeviceInfo device_;
    Compiler compiler_;
};

}  // namespace

std::vector<std::string> compile_options(const Configuration& configuration, const Problem& problem,
                                         const DeviceInfo& device) {
    std::vector<std::string> options = gpu::define_options(gpu::macros(configuration, problem, device));
    options.emplace_back("--std=c++17");
    return options;
}

int threads_per_multiprocessor(const std::string& arch) {
    const bool few = arch == "sm_86" || arch == "sm_87" || arch == "sm_89" || arch == "sm_120" || arch == "sm_121";
    return arch == "sm_75" ? 1024 : few ? 1536 : 2048;
}

int programs_per_multiprocessor(const std::string& arch, std::int64_t shared_bytes_per_program, int threads,
                                int registers, std::int64_t shared_bytes) {
    constexpr int register_file = 65536;
    constexpr int register_unit = 256;
    constexpr std::int64_t system_shared = 1024;
    constexpr int most_programs = 32;  // 16 and 24 on the smaller chips: only programs under 96 threads come to that
    const int warps = (threads + warp - 1) / warp;
    const int per_warp = (registers * warp + register_unit - 1) / register_unit * register_unit;
    const int by_registers = per_warp == 0 ? most_programs : register_file / per_warp / warps;
    const std::int64_t by_shared = (shared_bytes_per_program + system_shared) / (shared_bytes + system_shared);
    return static_cast<int>(std::min<std::int64_t>(
        {most_programs, threads_per_multiprocessor(arch) / (warps * warp), by_registers, by_shared}));
}

const gpu::Launch& main_launch(const gpu::LaunchPlan& plan) {
    const auto found = std::find_if(plan.launches.begin(), plan.launches.end(),
                                    [](const gpu::Launch& launch) { return launch.kernel == "nt_backward"; });
    return found != plan.launches.end() ? *found : plan.launches.front();
}

// "… Compiling entry function 'nt_forward' for 'sm_90'", some lines later "… Used 40 registers, …".
int registers_of(std::string_view log, std::string_view kernel) {
    const std::size_t entry = log.find(fmt::format("'{}'", kernel));
    const std::size_t used = entry == std::string_view::npos ? entry : log.find("Used ", entry);
    int registers = 0;
    if (used != std::string_view::npos) {
        std::from_chars(log.data() + used + 5, log.data() + log.size(), registers);
    }
    return registers;
}

CompileInfo compile_info(const Compiler::Result& compiled, const gpu::LaunchPlan& plan, const DeviceInfo& device) {
    const gpu::Launch& main = main_launch(plan);
    CompileInfo info;
    info.compile_ms = compiled.from_cache ? 0 : compiled.code.compile_ms;
    info.from_cache = compiled.from_cache;
    info.code_hash = content_hash(compiled.code.image.data(), compiled.code.image.size());
    info.registers = registers_of(compiled.code.log, main.kernel);
    info.spill_bytes = compiled.code.spill_bytes;
    info.shared_bytes = compiled.code.shared_bytes + static_cast<int>(main.shared_bytes);
    const int programs = programs_per_multiprocessor(device.arch, device.shared_bytes_per_program, main.block,
                                                     *info.registers, *info.shared_bytes);
    info.occupancy = static_cast<double>(programs * main.block) / threads_per_multiprocessor(device.arch);
    info.workspace_bytes = plan.workspace_bytes;
    info.programs = main.grid_x * main.grid_y;
    return info;
}

std::unique_ptr<CodeCompiler> open_compiler(const DeviceInfo& device) {
    std::string why_not;
    const std::string version = nvrtc_version(why_not);
    if (version.empty()) {
        throw InputError(fmt::format("--compile needs NVRTC: {}", why_not));
    }
    const std::vector<int> known = nvrtc_architectures();
    const bool compiles = std::any_of(known.begin(), known.end(),
                                      [&](int number) { return fmt::format("sm_{}", number) == device.arch; });
    if (!compiles) {
        throw InputError(fmt::format("NVRTC {} does not compile for {}; it knows sm_{}", version, device.arch,
                                     fmt::join(known, ", sm_")));
    }
    return std::make_unique<Nvrtc>(device);
}

}  // namespace normtune::cuda
