#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "devices/registry.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "report/winners.h"
#include "store/results_stream.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"
#include "support/version.h"
#include "trial/launch_manifest.h"

namespace normtune::cli {
namespace {

class EmitCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.group("Kernel");
        options.one("--problem", text("KEY", problem_), "The problem, e.g. rms_norm/forward/bf16/llama/8192x4096");
        options.one("--eps", number(0, 1, eps_), "Of --problem, whose key leaves it out (default: 1e-6)");
        options.one("--config", text("KEY", configuration_), "The configuration");
        options.one("--from", file(from_), "Instead of --config: the winner on the problem in results.json or a run folder");
        device_.declare(options);
        device_.declare_arch(options, "For a well-known device of this architecture; none need be here", Backend::cuda);
        options.group("Output");
        options.one("--out", folder(out_), "New folder for kernel.cu, launch.json and kernel.cubin");
        options.example(
            "normtune emit --problem rms_norm/forward/bf16/llama/8192x4096 --config "
            "w8.t256.r1.row.registers.even.per_row --arch sm_90 --out kernel");
        options.example(
            "normtune emit --from results/run-20261120T235959Z-1f3a --problem rms_norm/backward/bf16/llama/8192x4096 "
            "--out kernel");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (out_.empty()) {
            throw InputError("emit needs --out DIR, a new folder for what it writes");
        }
        const auto [problem, configuration] = choose();
        const DeviceInfo target = device_.info();
        if (target.backend != Backend::cuda) {
            throw InputError(fmt::format("emit writes CUDA kernels, and the device is {}; give --arch {}",
                                         backend_names.name(target.backend), fmt::join(known_architectures(Backend::cuda), "|")));
        }
        const std::string key = configuration.key();
        if (const std::string objection = gpu::objection(configuration, problem, target); !objection.empty()) {
            throw InputError(fmt::format("{} does not go with {} on {}: {}", key, problem.key(), target.arch, objection));
        }
        const std::unique_ptr<CodeCompiler> compiler = open_compiler(target);
        CompileInfo code;
        try {
            code = compiler->compile(problem, configuration);
        } catch (const DeviceError& error) {
            throw SystemError(error.what());
        }
        LaunchManifest manifest;
        manifest.normtune_version = version();
        manifest.key = key;
        manifest.problem = problem;
        manifest.arch = target.arch;
        manifest.compute_units = target.compute_units;
        manifest.compiler = compiler->name();
        manifest.code = {code.code_hash, code.registers.value_or(0), code.spill_bytes.value_or(0), code.shared_bytes.value_or(0),
                         code.occupancy.value_or(0)};
        manifest.plan = gpu::launch_plan(configuration, problem, target);
        const auto image = compiler->image(problem, configuration);
        const NewRunFolder folder(out_);
        fill_folder(folder.path(), [&](const std::string& place) {
            write_file_atomically(place + "/" + manifest.code_file, {reinterpret_cast<const char*>(image.data()), image.size()});
            write_file_atomically(place + "/kernel.cu", source(problem, configuration, target));
            write_file_atomically(place + "/launch.json", to_json(manifest).dump(2) + "\n");
        });
        print(fmt::format("{} for {} on {}: kernel.cu, kernel.cubin and launch.json in {}\n", key, problem.key(), target.arch,
                          folder.path()));
        return ExitCode::good;
    }

private:
    std::pair<Problem, Configuration> choose() const {
        if (problem_.empty() || configuration_.empty() == from_.empty()) {
            throw InputError("emit needs --problem KEY, and either --config KEY or --from RESULTS");
        }
        Problem problem = parse_problem_key(problem_);
        problem.operation.eps = eps_.value_or(problem.operation.eps);
        if (!configuration_.empty()) {
            return {problem, Configuration::parse(configuration_)};
        }
        const Results results = read_judged_results(from_);
        const std::vector<Winner> winners = find_winners(results);
        const auto found = std::find_if(winners.begin(), winners.end(), [&](const Winner& winner) {
            return winner.record != nullptr && winner.record->problem.same_work(problem);
        });
        if (found == winners.end()) {
            throw InputError(fmt::format("{} has no winner on {}; normtune best lists its problems", from_, problem_));
        }
        problem.operation.eps = eps_.value_or(found->record->problem.operation.eps);
        const Configuration* own = found->record->candidate.configuration();
        if (own == nullptr) {
            throw InputError(fmt::format("the winner on {} is {}, whose source normtune does not have; --config KEY emits one of its own",
                                         problem_, found->record->candidate.identity()));
        }
        return {problem, *own};
    }

    static std::string source(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
        return fmt::format(
            "// {} on {}, emitted by normtune. launch.json has grids, shared memory and arguments.\n"
            "// nvcc -std=c++17 -cubin -arch={} kernel.cu\n\n{}",
            configuration.key(), problem.key(), device.arch, gpu::self_contained_source(gpu::macros(configuration, problem, device)));
    }

    std::string problem_;
    std::optional<double> eps_;
    std::string configuration_;
    std::string from_;
    DeviceOptions device_;
    std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_emit_command() {
    return std::make_unique<EmitCommand>();
}

}  // namespace normtune::cli
