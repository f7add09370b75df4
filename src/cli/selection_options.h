// Options that several commands share: which problems and configurations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/option_set.h"
#include "problem/selection.h"
#include "space/shard.h"
#include "space/space.h"

namespace normtune::cli {

/// What there is to do: problems, and the configurations to try on each.
struct Work {
    std::vector<Problem> problems;
    SearchSpace space;
};

/// --shard, of the commands that can do a part of a selection.
void declare_shard(OptionSet& options, std::optional<Shard>& target);

class SelectionOptions {
public:
    void declare(OptionSet& options);
    void declare_problems(OptionSet& options);  // nothing that selects configurations
    bool given() const;
    bool selects_problems() const { return names_problems() || narrowed() || eps_.has_value(); }
    bool names_problems() const { return !shapes_.empty() || !problem_.empty() || !study_.empty(); }
    bool selects_configurations() const { return !space_.empty() || (!configuration_.empty() && candidate().empty()); }
    /// The identity of another provider's candidate that --config names; empty: it names none.
    std::string candidate() const { return takes_candidates_ && configuration_.find(':') != std::string::npos ? configuration_ : ""; }
    /// Of a command that has --candidate.
    void take_candidates() { takes_candidates_ = true; }
    /// Throws InputError: nothing selected, options that exclude each other, what files and keys throw.
    Work work() const;
    SearchSpace space() const;
    /// Throws InputError, as work does.
    std::vector<Problem> problems() const;

private:
    void declare_configurations(OptionSet& options);
    bool narrowed() const;
    Selection narrow(Selection selection) const;
    Work of_study() const;

    std::vector<std::string> shapes_;
    std::string study_;
    std::string problem_;
    std::optional<double> eps_;
    Selection selection_;
    std::string space_;
    std::string configuration_;
    bool takes_candidates_ = false;
};

}  // namespace normtune::cli
