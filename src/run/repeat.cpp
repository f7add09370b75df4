#include "run/repeat.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "trial/launch_manifest.h"

namespace normtune {

namespace {

std::string shell_word(std::string_view word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
        return std::string(word);
    }
    std::string quoted = "'";
    for (const char c : word) {
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return quoted + "'";
}

}  // namespace

std::string repeat_command(const SweepOptions& options, int ordinal, const Problem& problem, const Candidate& candidate) {
    std::string line =
        fmt::format("normtune {} --backend {}", options.verify_only ? "verify" : "sweep", backend_names.name(options.backend));
    if (ordinal != 0) {
        line += fmt::format(" --device {}", ordinal);
    }
    if (!options.replay_script.empty()) {
        line += " --replay-script " + shell_word(options.replay_script);
    }
    line += " --problem " + shell_word(problem.key());
    if (problem.operation.eps != Operation{}.eps) {
        line += fmt::format(" --eps {}", problem.operation.eps);
    }
    line += candidate.manifest() != nullptr ? " --candidates-only --candidate " + shell_word(candidate.manifest()->folder)
                                            : " --config " + shell_word(candidate.identity());
    if (!options.cold && !options.verify_only) {
        line += " --hot";
    }
    return line + fmt::format(" --seed {}", options.seed);
}

}  // namespace normtune
