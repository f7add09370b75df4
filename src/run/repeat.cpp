#include "run/repeat.h"

#include <fmt/format.h>

#include "support/escape.h"
#include "trial/launch_manifest.h"

namespace normtune {

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
    line += candidate.manifest() != nullptr ? " --candidates-only --candidate " + for_shell(candidate.manifest()->folder)
                                            : " --config " + for_shell(candidate.identity());
    if (!options.cold && !options.verify_only) {
        line += " --hot";
    }
    return line + fmt::format(" --seed {}", options.seed);
}

}  // namespace normtune
