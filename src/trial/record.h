// What a trial left. The unit of the journal, of results.json and of results.csv.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "space/device_info.h"
#include "trial/bits_check.h"
#include "trial/candidate.h"
#include "trial/compile_info.h"
#include "trial/measurement.h"
#include "trial/verification.h"

namespace normtune {

enum class Outcome { passed, incorrect, pruned, unsupported, compile_failed, launch_failed, out_of_memory, crashed, timed_out };
inline constexpr NameTable<Outcome, 9> outcome_names{
    {"passed", "incorrect", "pruned", "unsupported", "compile_failed", "launch_failed", "out_of_memory", "crashed", "timed_out"}};

struct Record {
    std::string timestamp;  // UTC, "2026-11-20T23:59:59Z"
    Backend backend = Backend::cpu;
    std::string device;
    std::string arch;
    std::string device_id;  // DeviceInfo::id; empty in results from before it was recorded
    Problem problem;
    Candidate candidate;
    Outcome outcome = Outcome::passed;
    std::string reason;  // one line; empty where passed
    std::optional<CompileInfo> compile;
    std::optional<Verification> verification;
    std::optional<BitsCheck> bits;  // where the run compared them
    std::optional<Measurement> measurement;
    std::string repeat;  // the command line that runs this trial again

    /// Identity of the trial in a run: problem key and the candidate's identity.
    std::string trial_key() const;
    /// Passed and measured to the end: not dropped by a race.
    bool may_win() const;
};

/// What a run was and where: written once into results.json and the journal's first line.
struct Environment {
    std::string normtune_version;
    std::string source_revision;
    std::string hostname;
    std::string os;  // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
    DeviceInfo device;
    std::string started;  // UTC
    std::uint64_t seed = 0;
    std::string compiler;                // of normtune's kernels: "NVRTC 13.0", or the executable's own; empty: not told
    std::vector<std::string> providers;  // of Python that took part: "liger 0.6.4"
};

}  // namespace normtune
