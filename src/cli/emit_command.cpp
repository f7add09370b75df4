#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "devices/registry.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "problem/shapes_file.h"
#include "report/winners.h"
#include "store/results_stream.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"
#include "support/escape.h"
#include "support/version.h"
#include "trial/kernel_folder.h"

namespace normtune::cli {
namespace {

class EmitCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.group("Kernel");
        options.one("--problem", text("KEY", problem_), "The problem, e.g. rms_norm/forward/bf16/llama/8192x4096");
        options.one("--eps", number(least_eps, most_eps, eps_), "Of --problem, whose key leaves it out (default: 1e-6)");
        options.one("--config", text("KEY", configuration_), "The configuration");
        options.one("--from", file(from_), "Instead of --config: the winner on the problem in results.json or a run folder");
        options.one("--candidate", folder(candidate_), "The kernel of this folder: that of --config, or the fastest in --from");
        device_.declare(options);
        device_.declare_arch(options, "For a well-known device of this architecture; none need be here", Backend::cuda);
        options.group("Output");
        options.one("--out", folder(out_), "New folder for kernel.cu, launch.json and kernel.cubin");
        options.example(
            "normtune emit --problem rms_norm/forward/bf16/llama/8192x4096 --config "
            "w8.t256.r1.row.registers.even.per_row --arch sm_90 --out kernel");
        options.example(fmt::format("normtune emit --from {} --problem rms_norm/backward/bf16/llama/8192x4096 --out kernel", example_run));
        options.example(fmt::format(
            "normtune emit --candidate my_norm --from {} --problem rms_norm/forward/bf16/llama/8192x4096 --out kernel", example_run));
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (out_.empty()) {
            throw InputError("emit needs --out DIR, a new folder for what it writes");
        }
        const DeviceInfo target = device_.info();
        const auto [problem, candidate, measured] = choose(target);
        if (target.backend != Backend::cuda) {
            throw InputError(fmt::format("emit writes CUDA kernels, and the device is {}; give --arch {}",
                                         backend_names.name(target.backend), fmt::join(known_architectures(Backend::cuda), "|")));
        }
        const Configuration* own = candidate.configuration();
        if (const std::string objection = own != nullptr ? gpu::objection(*own, problem, target) : ""; !objection.empty()) {
            throw InputError(fmt::format("{} does not go with {} on {}: {}", own->key(), problem.key(), target.arch, objection));
        }
        const std::unique_ptr<CodeCompiler> compiler = open_compiler(target);
        CompileInfo code;
        std::vector<std::byte> image;
        try {
            code = compiler->compile(problem, candidate);
            image = compiler->image(problem, candidate);
        } catch (const DeviceError& error) {
            throw SystemError(error.what());
        }
        LaunchManifest manifest = own != nullptr ? LaunchManifest{} : *candidate.manifest();
        const std::string source = own != nullptr         ? own_source(problem, *own, target)
                                   : manifest.is_source() ? others_source(manifest, problem)
                                                          : "";
        manifest.normtune_version = version();
        manifest.provider.clear();
        manifest.key = candidate.key();
        manifest.problem = problem;
        manifest.arch = target.arch;
        manifest.compute_units = target.compute_units;
        manifest.compiler = source.empty() ? manifest.compiler : compiler->name();
        manifest.code_file = LaunchManifest{}.code_file;
        manifest.options.clear();
        manifest.code = {code.code_hash, code.registers.value_or(0), code.spill_bytes.value_or(0), code.shared_bytes.value_or(0),
                         code.occupancy.value_or(0)};
        if (!code.registers) {  // machine code of others: without a hash nobody takes the figures for known
            manifest.code.hash.clear();
        }
        if (own != nullptr) {
            manifest.plan = gpu::launch_plan(*own, problem, target);
        }
        const NewRunFolder folder(out_);
        fill_folder(folder.path(), [&](const std::string& place) {
            write_file_atomically(place + "/" + manifest.code_file, {reinterpret_cast<const char*>(image.data()), image.size()});
            if (!source.empty()) {
                write_file_atomically(place + "/kernel.cu", source);
            }
            write_file_atomically(place + "/launch.json", to_json(manifest).dump(2) + "\n");
        });
        print(for_terminal(fmt::format("{} for {} on {}: {}kernel.cubin and launch.json in {}", candidate.identity(), problem.key(),
                                       target.arch, source.empty() ? "" : "kernel.cu, ", folder.path())) +
              "\n");
        if (!measured.empty() && measured != code.code_hash) {
            complain(
                fmt::format("{} measured other machine code of this configuration: another normtune or compiler made that, or it is of "
                            "another architecture",
                            from_));
        }
        return ExitCode::good;
    }

private:
    struct Choice {
        Problem problem;
        Candidate candidate;
        std::string measured;  // hash of the machine code that --from measured; empty: not known
    };

    Choice choose(const DeviceInfo& target) const {
        if (problem_.empty() ||
            (candidate_.empty() ? configuration_.empty() == from_.empty() : !configuration_.empty() && !from_.empty())) {
            throw InputError("emit needs --problem KEY, and either --config KEY or --from RESULTS");
        }
        Problem problem = parse_problem_key(problem_);
        problem.operation.eps = eps_.value_or(problem.operation.eps);
        if (!candidate_.empty()) {
            return of_folder(problem, target);
        }
        if (!configuration_.empty()) {
            return {problem, Configuration::parse(configuration_), ""};
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
        if (found->record->candidate.configuration() == nullptr) {
            throw InputError(
                fmt::format("the winner on {} is {}, whose source normtune does not have; --candidate DIR names its folder, "
                            "--config KEY emits one of normtune's own",
                            problem_, found->record->candidate.identity()));
        }
        return {problem, found->record->candidate, found->record->compile ? found->record->compile->code_hash : ""};
    }

    /// The one of the folder that --config names, or that was the fastest of them in --from, or the only one.
    Choice of_folder(Problem problem, const DeviceInfo& target) const {
        const auto folder = KernelFolder::load(candidate_);
        std::string key = configuration_;
        std::string measured;
        if (folder->single() != nullptr) {
            const double its = folder->single()->problem.operation.eps;
            problem.operation.eps = eps_.value_or(its);
            if (folder->single()->problem.key() == problem.key() && problem.operation.eps != its) {
                throw InputError(fmt::format("{} is for {} with an eps of {}, and --eps says {}", candidate_, problem_, its, *eps_));
            }
        }
        if (!from_.empty()) {
            const Results results = read_results_json(from_);
            const Record* best = best_of(results, problem, folder->provider());
            key = best->candidate.key();
            measured = best->compile ? best->compile->code_hash : "";
            problem.operation.eps = eps_.value_or(best->problem.operation.eps);
        }
        const FolderPlan plan = folder->plan(problem, target);
        for (const auto& manifest : plan.kept) {
            const Candidate candidate(manifest);
            if (key == candidate.key() || key == candidate.identity() || (key.empty() && plan.kept.size() == 1)) {
                return {problem, candidate, measured};
            }
        }
        throw InputError(fmt::format(
            "{} has {} on {}; normtune plan --candidate {} --problem {} --list has its keys, and why others are none", candidate_,
            key.empty() ? fmt::format("{} kernels", plan.kept.size()) : "no " + key, problem_, candidate_, problem_));
    }

    const Record* best_of(const Results& results, const Problem& problem, const std::string& provider) const {
        const Record* best = nullptr;
        double least = std::numeric_limits<double>::infinity();
        const std::vector<ProblemRanking> rankings = problem_rankings(results);
        for (const ProblemRanking& ranking : rankings) {
            for (const Standing& standing : ranking.standings) {
                if (ranking.problem().same_work(problem) && standing.record->candidate.provider() == provider && standing.ratio < least) {
                    best = standing.record;
                    least = standing.ratio;
                }
            }
        }
        if (best == nullptr) {
            throw InputError(fmt::format("{} has no measured candidate of {} on {}", from_, provider, problem_));
        }
        return best;
    }

    static std::string own_source(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
        return fmt::format(
            "// {} on {}, emitted by normtune. launch.json has grids, shared memory and arguments.\n"
            "// nvcc -std=c++17 -cubin -arch={} kernel.cu\n\n{}",
            configuration.key(), problem.key(), device.arch, gpu::self_contained_source(gpu::macros(configuration, problem, device)));
    }

    /// What was compiled, its macros at its head.
    static std::string others_source(const LaunchManifest& manifest, const Problem& problem) {
        std::string out = fmt::format("// {} on {}. launch.json has grids, shared memory and arguments.\n", manifest.key, problem.key());
        std::string rest;
        for (const std::string& option : compiler_options(manifest.options)) {
            const std::size_t equals = std::min(option.find('='), option.size());
            if (option.starts_with("-D")) {
                out +=
                    fmt::format("#define {} {}\n", option.substr(2, equals - 2), equals < option.size() ? option.substr(equals + 1) : "1");
            } else {
                rest += " " + option;
            }
        }
        return fmt::format("{}{}#line 1\n{}", out, rest.empty() ? "" : "// compiled with" + rest + "\n", read_code(manifest));
    }

    std::string problem_;
    std::optional<double> eps_;
    std::string configuration_;
    std::string from_;
    std::string candidate_;
    DeviceOptions device_;
    std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_emit_command() {
    return std::make_unique<EmitCommand>();
}

}  // namespace normtune::cli
