#include "run/repeat.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/escape.h"
#include "trial/launch_manifest.h"

namespace normtune {
namespace {

std::string measured_how(const SweepOptions& options) {
    std::string how;
    if (!options.verify_only) {
        how = !options.cold ? " --hot" : options.over_cache > 0 ? fmt::format(" --rotation {}", options.over_cache) : "";
    }
    return fmt::format("{} --seed {}", how, options.seed);
}

/// Of a Python provider: the name that it has by itself.
std::string_view own_name_of(const Candidate& candidate, const CandidateChoice& choice) {
    const auto its =
        std::ranges::find(choice.providers, candidate.provider(), [](const auto& provider) { return std::string_view(provider->name()); });
    return its == choice.providers.end() ? candidate.provider() : std::string_view((*its)->own_name());
}

}  // namespace

std::string repeat_command(const SweepOptions& options, int ordinal, const Problem& problem, const Candidate& candidate) {
    std::string line =
        fmt::format("normtune {} --backend {}", options.verify_only ? "verify" : "sweep", backend_names.name(options.backend));
    if (ordinal != 0) {
        line += fmt::format(" --device {}", ordinal);
    }
    if (!options.replay_script.empty()) {
        line += " --replay-script " + for_shell(options.replay_script);
    }
    line += " --problem " + for_shell(problem.key());
    if (problem.operation.eps != Operation{}.eps) {
        line += fmt::format(" --eps {}", problem.operation.eps);
    }
    const LaunchManifest* manifest = candidate.manifest().get();
    if (manifest != nullptr && manifest->is_python()) {
        line += " --candidates-only --provider " + for_shell(manifest->python_provider);
        line += manifest->python.empty() ? "" : " --python " + for_shell(manifest->python);
        line += " --config " + for_shell(fmt::format("{}:{}", own_name_of(candidate, options.candidates), candidate.key()));
        return line + measured_how(options);
    }
    line += manifest != nullptr ? " --candidates-only --candidate " + for_shell(manifest->folder) : "";
    const auto& folders = options.candidates.folders;
    const bool one_of_many = manifest != nullptr && std::none_of(folders.begin(), folders.end(),
                                                                 [&](const auto& folder) { return folder->single().get() == manifest; });
    if (manifest == nullptr) {
        line += " --config " + for_shell(candidate.identity());
    } else if (one_of_many) {  // by the name that the folder has by itself
        const auto its =
            std::ranges::find(folders, candidate.provider(), [](const auto& folder) { return std::string_view(folder->provider()); });
        const std::string_view provider = its == folders.end() ? candidate.provider() : std::string_view((*its)->own_name());
        line += " --config " + for_shell(fmt::format("{}:{}", provider, candidate.key()));
    }
    return line + measured_how(options);
}

}  // namespace normtune
