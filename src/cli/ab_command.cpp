#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/gate_output.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/run_report.h"
#include "cli/selection_options.h"
#include "cli/table_options.h"
#include "judge/summary.h"
#include "report/comparison_report.h"
#include "report/gate_report.h"
#include "run/ab.h"
#include "store/run_folder.h"
#include "support/clock.h"
#include "support/config_file.h"
#include "support/escape.h"

namespace normtune::cli {
namespace {

class AbCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.one("BEFORE", folder(before_),
                    "What was: a candidate folder (docs/candidates.md), a tree of them, a Python provider (docs/providers.md), or a "
                    "configuration's key");
        options.one("AFTER", folder(after_), "What is now, in any of these forms");
        options.one("--before-python", file(before_python_),
                    "Interpreter of BEFORE's provider, or its virtual environment (default: NORMTUNE_PYTHON, then that of VIRTUAL_ENV, "
                    "then python3)");
        options.one("--after-python", file(after_python_), "Interpreter of AFTER's provider");
        selection_.declare_problems(options);
        device_.declare(options);
        options.group("Measuring");
        options.one("--processes", whole_number(AbBudget::least_processes, AbBudget::most_processes, processes_),
                    fmt::format("Fresh worker processes that share {:g} s of device time a pair and side (default: {})",
                                AbBudget::device_time_us / 1e6, AbBudget::usual_processes));
        options.flag("--hot", "Measure on data that is in cache already (default: cold)", hot_);
        options.one("--seed", whole_number(0, std::numeric_limits<std::int64_t>::max(), seed_), "Of the inputs and the order (default: 0)");
        options.one("--timeout", duration(0.01, day_s, timeout_s_),
                    fmt::format("Give up on a trial after this long (default: {}s)", SweepOptions{}.trial_timeout_s));
        options.group("Verdicts");
        options.one("--threshold", number(0.01, 1000, threshold_percent_),
                    fmt::format("Percent: the least change that counts (default: {:g})", usual_threshold * 100));
        options.one("--policy", shipped_file("gates", policy_),
                    fmt::format("What counts, as for gate; shipped: {}", fmt::join(shipped_names("gates"), ", ")));
        output_.declare(options);
        table_.declare(options, {},
                       "markdown: for a pull request; csv: a line a pair, with --policy a line a pair and metric; json: "
                       "schemas/comparison.schema.json");
        options.one("--most", whole_number(0, 1'000'000'000, most_),
                    "table, and markdown without --policy: pairs shown of each verdict; 0: all (default: 50)");
        options.one("--out", folder(out_), "Where everything of the run goes (default: results/run-TIME)");
        options.flag("--quiet", "No progress and no warnings", quiet_);
        options.example("normtune ab main/norm pr/norm --shapes qwen3 --tokens 1,8192");
        options.example("normtune ab liger liger --before-python old/bin/python3 --after-python new/bin/python3 --shapes qwen3");
        options.example("normtune ab main/kernels pr/kernels --shapes qwen3 --policy default --junit ab.xml --github");
    }

    ExitCode run(const std::vector<std::string>& words) override {
        if (before_.empty() || after_.empty()) {
            throw InputError("two versions are measured; give BEFORE and AFTER");
        }
        if (!table_.is("table")) {
            table_.require_no_order();
        }
        output_.require_apart({});
        const Policy policy = read_policy();
        std::vector<std::string> headings = comparison_headings(policy.metrics.front());
        if (!policy_.empty()) {
            std::ranges::move(gate_headings(), std::back_inserter(headings));
        }
        table_.require_order(headings);
        AbSide before = read_ab_side(before_, "before", before_python_);
        AbSide after = read_ab_side(after_, "after", after_python_);
        require_two_sides(before, after);
        const std::vector<Problem> problems = selection_.selects_problems() ? selection_.problems() : problems_of(before, after);
        const DeviceChoice device = device_.choose();
        ask_provider(before, device.backend, problems);
        ask_provider(after, device.backend, problems);
        before_ = before.label();
        after_ = after.label();
        const std::vector<AbTrials> trials = plan_ab(before, after, problems, device.info);
        SweepOptions options;
        options.command = words;
        device.set(options);
        options.seed = static_cast<std::uint64_t>(seed_);
        options.cold = !hot_;
        options.trial_timeout_s = timeout_s_.value_or(options.trial_timeout_s);
        set_ab_sweep(options, before, after, problems, trials, static_cast<int>(processes_));
        const NewRunFolder folder(out_);
        options.out_folder = folder.path();
        const SweepResult swept = sweep(options);
        if (swept.interrupted) {
            complain(fmt::format("nothing is judged; what was measured is in {}", options.out_folder));
            return ExitCode::interrupted;
        }
        return judged(options, swept, trials, policy);
    }

private:
    static constexpr double day_s = 86400;
    static constexpr double usual_threshold = 0.005;

    /// Without --policy one that counts what --threshold says, as compare does, and a version that fails where the one before passed.
    Policy read_policy() const {
        if (!policy_.empty()) {
            if (threshold_percent_) {
                throw InputError("--policy says what counts; leave out --threshold, or it");
            }
            const ConfigFile file = load_config("gates", policy_);
            Policy policy = parse_policy(file.text, file.file);
            require_known_words(policy, file.file, {});
            if (policy.by == MatchBy::best) {
                throw InputError(
                    fmt::format("{}: ab measures each candidate beside its own counterpart; take a policy with by: config", file.file));
            }
            return policy;
        }
        Policy policy;
        policy.name = "ab";
        policy.metrics = {Metric::latency};
        policy.threshold = threshold_percent_ ? *threshold_percent_ / 100 : usual_threshold;
        policy.margin = usual_threshold;
        policy.missing = GateResult::pass;
        return policy;
    }

    SweepResult sweep(const SweepOptions& options) const {
        ProgressReport progress(stderr, quiet_);
        return run_sweep(options, progress);
    }

    ExitCode judged(const SweepOptions& options, const SweepResult& swept, const std::vector<AbTrials>& trials,
                    const Policy& policy) const {
        const AbRecords records = ab_records(swept.results, trials);
        const Environment& environment = swept.results.environment;
        const ResultRows before = ab_rows(records.pairs, &AbPair::before, environment, before_);
        const ResultRows after = ab_rows(records.pairs, &AbPair::after, environment, after_);
        std::vector<Comparison> comparisons;
        for (const Metric metric : policy.metrics) {
            comparisons.push_back(judge_ab(records.pairs, before, after, policy.settings(metric)));
        }
        constexpr std::size_t day_length = 10;  // "2026-11-20"
        GateVerdict verdict = judge_gate(policy, comparisons, utc_timestamp().substr(0, day_length));
        note_failures(verdict, comparisons.front());
        const Summary summary = summarise(comparisons.front());
        if (table_.is("table")) {
            std::vector<Section> sections = comparison_sections(comparisons.front(), summary, static_cast<std::size_t>(most_));
            if (!policy_.empty()) {
                std::ranges::move(gate_sections(verdict), std::back_inserter(sections));
            }
            if (std::string failed = failed_on_both(records.pairs); !failed.empty()) {
                sections.push_back({"", Table(), std::move(failed)});
            }
            table_.show_measured(run_sections(options, swept, std::move(sections)));
        } else {
            print_report(comparisons.front(), summary, verdict);
        }
        output_.annotate(verdict);
        output_.write(verdict);  // last: where it fails, what was measured has been told
        return exit_code_of(verdict);
    }

    /// For programs and comments; with --policy they say what the gate made of it, as the exit code does.
    void print_report(const Comparison& comparison, const Summary& summary, const GateVerdict& verdict) const {
        const bool of_gate = !policy_.empty();
        TextSink out(print_data);
        if (table_.is("markdown")) {
            out += of_gate ? gate_markdown(verdict) : comparison_markdown(comparison, summary, static_cast<std::size_t>(most_));
        } else if (table_.is("json")) {
            write_comparison_json(out, comparison, summary, of_gate ? &verdict : nullptr);
        } else {
            of_gate ? write_gate_csv(out, verdict) : write_comparison_csv(out, comparison);
        }
        out.flush();
    }

    /// What fails on both sides, or on the only one that has it, cannot be told better or worse: that is no pass. Each is a case.
    static void note_failures(GateVerdict& verdict, const Comparison& comparison) {
        if (comparison.failed_both == 0) {
            return;
        }
        verdict.remarks.push_back(fmt::format("{} candidate{} failed on both sides, or on the only side that has {}",
                                              comparison.failed_both, comparison.failed_both == 1 ? "" : "s",
                                              comparison.failed_both == 1 ? "it" : "them"));
        for (const Pair& pair : comparison.failed_pairs) {
            GateCase it;
            it.comparison = &comparison;
            it.pair = &pair;
            it.verdict = Verdict::ambiguous;
            it.threshold = comparison.threshold_of(pair);
            it.result = GateResult::inconclusive;
            it.reason = comparison.note(pair);
            verdict.cases.push_back(std::move(it));
        }
        verdict.incomplete = true;
        verdict.result = verdict.result == GateResult::pass ? GateResult::inconclusive : verdict.result;
    }

    /// Why they failed, of the first of those that did on both sides: no pair of the table says it.
    static std::string failed_on_both(const std::vector<AbPair>& pairs) {
        constexpr int most = 5;
        std::string out;
        int shown = 0;
        for (const AbPair& pair : pairs) {
            if (pair.before != nullptr && pair.after != nullptr && pair.before->outcome != Outcome::passed &&
                pair.after->outcome != Outcome::passed && shown++ < most) {
                out += fmt::format("{}\n  before {}: {}\n  after  {}: {}\n", for_terminal(pair.after->trial_key()),
                                   outcome_names.name(pair.before->outcome), for_terminal(pair.before->reason),
                                   outcome_names.name(pair.after->outcome), for_terminal(pair.after->reason));
            }
        }
        return out;
    }

    std::string before_;
    std::string after_;
    std::string before_python_;
    std::string after_python_;
    SelectionOptions selection_;
    DeviceOptions device_;
    std::int64_t processes_ = AbBudget::usual_processes;
    bool hot_ = false;
    std::int64_t seed_ = 0;
    std::optional<double> timeout_s_;
    std::optional<double> threshold_percent_;
    std::string policy_;
    GateOutput output_;
    TableOptions table_;
    std::int64_t most_ = 50;
    std::string out_;
    bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ab_command() {
    return std::make_unique<AbCommand>();
}

}  // namespace normtune::cli
