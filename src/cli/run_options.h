// Options of the commands that run trials: sweep, and verify, which stops before timing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/candidate_options.h"
#include "cli/device_options.h"
#include "run/sweep.h"

namespace normtune::cli {

class RunOptions {
public:
    void declare(OptionSet& options);
    void declare_timing(OptionSet& options);  // sweep's alone

    /// What to run, its folder apart: of the words, or of the journal where --resume stands alone.
    /// Throws InputError: options that do not go together, and what files and keys throw.
    SweepOptions sweep_options(const std::vector<std::string>& words) const;

    bool fresh() const { return fresh_; }
    const std::string& out() const { return out_; }
    const std::string& resume() const { return resume_; }
    bool quiet() const { return quiet_; }

private:
    bool says_what_to_run() const;
    SweepOptions of_words() const;

    SelectionOptions selection_;
    CandidateOptions candidates_;
    DeviceOptions device_;
    std::optional<std::string> strategy_;
    std::optional<std::int64_t> trials_;
    std::optional<std::int64_t> seed_;
    std::optional<Shard> shard_;
    std::optional<double> budget_s_;
    std::optional<double> timeout_s_;
    bool batch_invariant_ = false;
    bool deterministic_ = false;
    bool hot_ = false;
    std::optional<std::int64_t> rotation_;
    std::optional<std::int64_t> repeat_;
    std::optional<std::int64_t> lock_clocks_;
    bool fresh_ = false;
    std::string out_;
    std::string resume_;
    bool quiet_ = false;
};

}  // namespace normtune::cli
