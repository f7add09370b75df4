#include "devices/gpu/toolchain.h"

#include <algorithm>

#include "devices/gpu/manifest_kernel.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"

namespace normtune::gpu {
namespace {

class OfflineCompiler final : public CodeCompiler {
public:
    OfflineCompiler(const DeviceInfo& device, Toolchain toolchain) : device_(device), toolchain_(std::move(toolchain)) {}

    std::string name() const override { return toolchain_.pool->name(); }

    void ahead(const Problem& problem, const Candidate& candidate) override {
        compile_candidate_ahead(problem, candidate, toolchain_, device_);
    }

    CompileInfo compile(const Problem& problem, const Candidate& candidate) override {
        return load_candidate(problem, candidate, toolchain_, device_).info;
    }

    std::vector<std::byte> image(const Problem& problem, const Candidate& candidate) override {
        return load_candidate(problem, candidate, toolchain_, device_).compiled->code.image;
    }

private:
    DeviceInfo device_;
    Toolchain toolchain_;
};

}  // namespace

const SourceText& kernel_source() {
    static const SourceText text{std::string(source())};
    return text;
}

std::vector<std::string> compile_options(const Toolchain& toolchain, const Configuration& configuration, const Problem& problem,
                                         const DeviceInfo& device) {
    std::vector<std::string> options = define_options(macros(configuration, problem, device));
    options.insert(options.end(), toolchain.options.begin(), toolchain.options.end());
    options.insert(options.end(), toolchain.own_options.begin(), toolchain.own_options.end());
    return options;
}

LoadableKernel load_candidate(const Problem& problem, const Candidate& candidate, const Toolchain& toolchain, const DeviceInfo& device) {
    if (candidate.manifest() != nullptr) {
        return load_manifest(*candidate.manifest(), toolchain, device);
    }
    const Configuration& configuration = own_configuration(candidate);
    if (const std::string why = objection(configuration, problem, device); !why.empty()) {
        throw DeviceError(DeviceFault::unsupported, why);
    }
    LoadableKernel out{toolchain.pool->get(compile_options(toolchain, configuration, problem, device), kernel_source()),
                       launch_plan(configuration, problem, device),
                       {}};
    out.info = toolchain.compile_info(*out.compiled, out.plan, device);
    return out;
}

void compile_candidate_ahead(const Problem& problem, const Candidate& candidate, const Toolchain& toolchain, const DeviceInfo& device) {
    if (candidate.manifest() != nullptr) {
        compile_manifest_ahead(*candidate.manifest(), toolchain, device);
    } else if (const Configuration& own = own_configuration(candidate); objection(own, problem, device).empty()) {
        toolchain.pool->ahead(compile_options(toolchain, own, problem, device), kernel_source());
    }
}

const Launch& main_launch(const LaunchPlan& plan) {
    const auto found =
        std::find_if(plan.launches.begin(), plan.launches.end(), [](const Launch& launch) { return launch.kernel == "nt_backward"; });
    return found != plan.launches.end() ? *found : plan.launches.front();
}

CompileInfo common_info(const CompilePool::Result& compiled, const LaunchPlan& plan) {
    const Launch& main = main_launch(plan);
    CompileInfo info;
    info.compile_ms = compiled.from_cache ? 0 : compiled.code.compile_ms;
    info.from_cache = compiled.from_cache;
    info.code_hash = compiled.code_hash;
    info.spill_bytes = compiled.code.spill_bytes;
    info.workspace_bytes = plan.workspace_bytes;
    info.programs = main.programs();
    return info;
}

std::unique_ptr<CodeCompiler> offline_compiler(const DeviceInfo& device, Toolchain toolchain) {
    return std::make_unique<OfflineCompiler>(device, std::move(toolchain));
}

}  // namespace normtune::gpu
