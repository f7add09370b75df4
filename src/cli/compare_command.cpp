#include "cli/commands.h"
#include "cli/output.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
#include "judge/summary.h"
#include "report/comparison_report.h"

namespace normtune::cli {
namespace {

class CompareCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.one("BASELINE", file(baseline_),
                    "What was: a run folder, results.json, results.csv, liger.csv, or Liger-Kernel's CSV or JSON");
        options.one("CANDIDATE", file(candidate_), "What is now, in any of these formats");
        declare_matching(options, settings_);
        options.group("Verdicts");
        options.one("--threshold", percent(0.01, 1000, threshold_percent_), "The least change that counts (default: 1%)");
        options.one("--metric", name_of(metric_names, settings_.metric), "(default: latency)");
        table_.declare(options, {}, "markdown: for a pull request; csv: a line a pair; json: schemas/comparison.schema.json");
        options.one("--most", whole_number(0, 1'000'000'000, most_), "table, markdown: pairs shown of each verdict; 0: all (default: 50)");
        options.example("normtune compare before/ after/");
        options.example("normtune compare before.json after.json --by best --format markdown");
        options.example("normtune compare old/all_benchmark_data.csv new/all_benchmark_data.csv --metric memory");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (baseline_.empty() || candidate_.empty()) {
            throw InputError("two results are compared; give BASELINE and CANDIDATE");
        }
        if (!table_.is("table")) {
            table_.require_no_order();
        }
        settings_.threshold = threshold_percent_ / 100;
        const auto [baseline, candidate] = read_both_sides(baseline_, candidate_);
        const Comparison comparison = compare(baseline, candidate, settings_);
        if (!comparison.not_comparable.empty()) {
            complain(comparison.not_comparable);
            return ExitCode::not_comparable;
        }
        const Summary summary = summarise(comparison);
        const auto most = static_cast<std::size_t>(most_);
        if (table_.is("table")) {
            table_.show(comparison_sections(comparison, summary, most));
        } else if (table_.is("markdown")) {
            print_data(comparison_markdown(comparison, summary, most));
        } else {
            TextSink out(print_data);
            table_.is("json") ? write_comparison_json(out, comparison, summary) : write_comparison_csv(out, comparison);
            out.flush();
        }
        return summary.count(Verdict::slower) > 0      ? ExitCode::regression
               : summary.count(Verdict::ambiguous) > 0 ? ExitCode::inconclusive
                                                       : ExitCode::good;
    }

private:
    std::string baseline_;
    std::string candidate_;
    CompareSettings settings_;
    double threshold_percent_ = 1;
    TableOptions table_;
    std::int64_t most_ = 50;
};

}  // namespace

std::unique_ptr<Command> make_compare_command() {
    return std::make_unique<CompareCommand>();
}

}  // namespace normtune::cli
