#include "cli/run_options.h"

#include <limits>

#include <fmt/format.h>

#include "space/reproducibility.h"

namespace normtune::cli {
namespace {

constexpr double day_s = 86400;
constexpr std::int64_t most_processes = 100;
constexpr std::int64_t most_over_cache = 1024;

/// The strategies that draw.
std::string drawing() {
    std::string names;
    for (const Strategy* strategy : strategies()) {
        names += strategy->draws() ? fmt::format("{}{}", names.empty() ? "" : " or ", strategy->name()) : "";
    }
    return names;
}

}  // namespace

void RunOptions::declare(OptionSet& options) {
    const SweepOptions defaults;
    selection_.declare(options);
    candidates_.declare(options, selection_);
    declare_shard(options, shard_);
    options.one("--strategy", word_of(strategy_names(), strategy_),
                fmt::format("How the space is searched (default: {})", defaults.strategy->name()));
    options.one("--trials", whole_number(1, std::int64_t{1} << 40, trials_),
                fmt::format("{}: configurations drawn for each problem", drawing()));
    options.one("--seed", whole_number(0, std::numeric_limits<std::int64_t>::max(), seed_),
                "Of the inputs, the order and what is drawn (default: 0)");
    device_.declare_several(options);
    options.group("Equal bits (docs/reproducibility.md)");
    options.flag("--batch-invariant",
                 "Compare the bits of rows alone and within batches; a sweep's winners are of one class for all M of an N, with the price",
                 batch_invariant_);
    options.flag("--deterministic",
                 "Leave out configurations whose dgamma differs from run to run; compare its bits over repeated launches", deterministic_);
    options.group("Run");
    options.one("--budget", duration(1, 365 * day_s, budget_s_), "Stop after this long; racing spends it where it tells most");
    options.one("--timeout", duration(0.01, day_s, timeout_s_),
                fmt::format("Give up on a trial after this long (default: {}s)", defaults.trial_timeout_s));
    options.one("--out", folder(out_), "Where everything of the run goes (default: results/run-TIME)");
    options.one("--resume", folder(resume_),
                "Go on with the run of that folder; beside it no more than --budget, --quiet and those of Output, or all that it began "
                "with but --out");
    options.flag("--quiet", "No progress and no warnings", quiet_);
}

void RunOptions::declare_timing(OptionSet& options) {
    options.group("Run");
    options.flag("--hot", "Measure on data that is in cache already (default: cold)", hot_);
    options.one(
        "--rotation", whole_number(1, most_over_cache, rotation_),
        "Cold: buffer sets take so many times the last-level cache (default: 32 on a GPU, up to an eighth of its memory; 4 on a CPU)");
    options.one("--repeat", whole_number(2, most_processes, repeat_),
                "Measure what may win in so many worker processes, one after another (docs/measuring.md)");
    options.one("--lock-clocks", whole_number(100, 10'000, lock_clocks_),
                "Hold the GPU's clock at so many MHz, and give it back at the end");
    options.flag("--fresh", "Measure also what the store of winners has, and replace it there; in a new run alone", fresh_);
}

SweepOptions RunOptions::sweep_options(const std::vector<std::string>& words) const {
    if (!out_.empty() && !resume_.empty()) {
        throw InputError("--out is for a new run and --resume for one that is there; give one of them");
    }
    if (!resume_.empty() && fresh_) {
        throw InputError("--fresh is for a new run: a resumed one goes on with what it took from the store of winners");
    }
    if (!resume_.empty() && says_what_to_run() && !selection_.names_problems() && !candidates_.names_sources()) {
        throw InputError(
            "--resume goes on with the run as it began; of other options it takes --budget, --quiet and those of the output, or else "
            "all that the run was begun with, its --shapes, --problem or --study among them");
    }
    SweepOptions options = !resume_.empty() && !says_what_to_run() ? options_from_journal(resume_) : of_words();
    options.command = words;
    options.resume = !resume_.empty();
    options.out_folder = resume_;
    options.budget_s = budget_s_.value_or(options.budget_s);
    return options;
}

bool RunOptions::says_what_to_run() const {
    return selection_.given() || candidates_.given() || device_.given() || shard_ || strategy_ || trials_ || seed_ || timeout_s_ || hot_ ||
           rotation_ || repeat_ || lock_clocks_ || batch_invariant_ || deterministic_;
}

SweepOptions RunOptions::of_words() const {
    SweepOptions options;
    options.strategy = strategy_ ? find_strategy(*strategy_) : options.strategy;
    if (trials_ && !options.strategy->draws()) {
        throw InputError(fmt::format("--trials is how many configurations are drawn; add --strategy {}", drawing()));
    }
    if (!trials_ && options.strategy->draws()) {
        throw InputError(
            fmt::format("--strategy {} draws configurations; add --trials N, how many of each problem", options.strategy->name()));
    }
    options.most_trials_per_problem = static_cast<std::uint64_t>(trials_.value_or(0));
    options.candidates = candidates_.choice(selection_);
    Work work = work_of(selection_, options.candidates);
    options.problems = std::move(work.problems);
    options.space = std::move(work.space);
    options.shard = shard_.value_or(options.shard);
    device_.choose().set(options);
    candidates_.ask(options.candidates, options.backend, options.problems);
    options.batch_invariant = batch_invariant_;
    options.deterministic = deterministic_;
    if (deterministic_) {
        options.space.rules.push_back(deterministic_rule(options.backend));
    }
    options.seed = static_cast<std::uint64_t>(seed_.value_or(0));
    if (hot_ && rotation_) {
        throw InputError("--rotation is of cold runs, and --hot measures one set of buffers; give one of them");
    }
    options.cold = !hot_;
    options.over_cache = static_cast<int>(rotation_.value_or(options.over_cache));
    options.processes = static_cast<int>(repeat_.value_or(options.processes));
    options.lock_clock_mhz = static_cast<int>(lock_clocks_.value_or(options.lock_clock_mhz));
    options.trial_timeout_s = timeout_s_.value_or(options.trial_timeout_s);
    return options;
}

}  // namespace normtune::cli
