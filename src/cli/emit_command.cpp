#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/new_folder.h"
#include "cli/output.h"
#include "devices/registry.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "report/export/launch_json.h"
#include "report/winners.h"
#include "store/results.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"

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
        EmittedKernel kernel;
        choose(kernel);
        kernel.device = device_.info();
        if (kernel.device.backend != Backend::cuda) {
            throw InputError(fmt::format("emit writes CUDA kernels, and the device is {}; give --arch {}",
                                         backend_names.name(kernel.device.backend), fmt::join(known_architectures(Backend::cuda), "|")));
        }
        const std::string objection = gpu::objection(kernel.configuration, kernel.problem, kernel.device);
        if (!objection.empty()) {
            throw InputError(fmt::format("{} does not go with {} on {}: {}", kernel.configuration.key(), kernel.problem.key(),
                                         kernel.device.arch, objection));
        }
        const std::unique_ptr<CodeCompiler> compiler = open_compiler(kernel.device);
        kernel.compiler = compiler->name();
        try {
            kernel.code = compiler->compile(kernel.problem, kernel.configuration);
        } catch (const DeviceError& error) {
            throw SystemError(error.what());
        }
        kernel.plan = gpu::launch_plan(kernel.configuration, kernel.problem, kernel.device);
        const auto image = compiler->image(kernel.problem, kernel.configuration);
        const NewFolder folder(out_);
        fill_folder(folder.path(), [&](const std::string& place) {
            write_file_atomically(place + "/kernel.cubin", {reinterpret_cast<const char*>(image.data()), image.size()});
            write_file_atomically(place + "/kernel.cu", source(kernel));
            write_file_atomically(place + "/launch.json", launch_json(kernel));
        });
        print(fmt::format("{} for {} on {}: kernel.cu, kernel.cubin and launch.json in {}\n", kernel.configuration.key(),
                          kernel.problem.key(), kernel.device.arch, folder.path()));
        return ExitCode::good;
    }

private:
    void choose(EmittedKernel& kernel) {
        if (problem_.empty() || configuration_.empty() == from_.empty()) {
            throw InputError("emit needs --problem KEY, and either --config KEY or --from RESULTS");
        }
        kernel.problem = parse_problem_key(problem_);
        if (eps_) {
            kernel.problem.operation.eps = *eps_;
        }
        if (!configuration_.empty()) {
            kernel.configuration = Configuration::parse(configuration_);
            return;
        }
        const Results results = read_results_json(from_);
        const std::vector<Winner> winners = find_winners(results);
        const auto found = std::find_if(winners.begin(), winners.end(), [&](const Winner& winner) {
            return winner.record != nullptr && winner.record->problem.same_work(kernel.problem);
        });
        if (found == winners.end()) {
            throw InputError(fmt::format("{} has no winner on {}; normtune best lists its problems", from_, problem_));
        }
        if (!eps_) {
            kernel.problem.operation.eps = found->record->problem.operation.eps;
        }
        const Configuration* own = found->record->candidate.configuration();
        if (own == nullptr) {
            throw InputError(fmt::format("the winner on {} is {}, whose source normtune does not have; --config KEY emits one of its own",
                                         problem_, found->record->candidate.identity()));
        }
        kernel.configuration = *own;
    }

    static std::string source(const EmittedKernel& kernel) {
        return fmt::format(
            "// {} on {}, emitted by normtune. launch.json has grids, shared memory and arguments.\n"
            "// nvcc -std=c++17 -cubin -arch={} kernel.cu\n\n{}",
            kernel.configuration.key(), kernel.problem.key(), kernel.device.arch,
            gpu::self_contained_source(gpu::macros(kernel.configuration, kernel.problem, kernel.device)));
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
