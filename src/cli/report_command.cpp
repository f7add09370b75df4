#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/result_options.h"
#include "report/page/pages.h"
#include "report/page/plot_png.h"
#include "report/page/plot_svg.h"
#include "support/pattern.h"
#include "support/plural.h"
#include "support/text_sink.h"

namespace normtune::cli {
namespace {

class ReportCommand : public Command {
public:
    void declare(OptionSet& options) override {
        files_.declare(options);
        options.one("-o,--out", file(out_), "Where the page or the picture goes; - is standard output");
        options.one("--problem", text("PATTERN", problem_), "Only problems whose key matches; * and ? match as in a shell");
        options.group("One plot");
        options.one("--format", word_of({"html", "svg", "png"}, format_), "svg, png: of one plot; png needs rsvg-convert (default: html)");
        options.one(
            "--plot", word_of(all_plot_names(), plot_),
            "Of one result: limit (default), rows, cols, axes, heuristics, rules, rounds, machine; of two: largest (default), changes");
        declare_matching(options, settings_);
        options.example(fmt::format("normtune report {} -o report.html", example_run));
        options.example("normtune report before/ after/ -o changes.html");
        options.example("normtune report results.json --format svg --plot rows --problem '*/forward/*' -o rows.svg");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (out_.empty()) {
            throw InputError("-o FILE is missing: where the page goes (- is standard output)");
        }
        if (files_.names().size() > 2) {
            throw InputError("give one result, or two to compare; normtune merge puts the parts of one together");
        }
        const bool two = files_.names().size() == 2;
        require_not_a_result(out_, files_.names(), "page");
        if (!plot_.empty() && format_ == "html") {
            throw InputError("--plot names the plot of --format svg or png; a page has all");
        }
        const std::vector<std::string> names = two ? comparison_plot_names() : run_plot_names();
        if (!plot_.empty() && std::find(names.begin(), names.end(), plot_) == names.end()) {
            throw InputError(
                fmt::format("--plot {} is not of {}; there is {}", plot_, two ? "two results" : "one result", fmt::join(names, ", ")));
        }
        plot_ = plot_.empty() ? names.front() : plot_;
        return two ? of_two() : of_one();
    }

private:
    static std::vector<std::string> all_plot_names() {
        std::vector<std::string> names = run_plot_names();
        const std::vector<std::string> more = comparison_plot_names();
        names.insert(names.end(), more.begin(), more.end());
        return names;
    }

    ExitCode of_one() {
        if (settings_.by != MatchBy::config || !settings_.across.empty()) {
            throw InputError("--by and --across say how two results are matched; give two");
        }
        std::vector<Results> runs = files_.read(keep_for_page);
        Results& results = runs.front();
        if (!problem_.empty()) {
            std::erase_if(results.records, [&](const Record& record) { return !matches_pattern(problem_, record.problem.key()); });
            std::erase_if(results.plans, [&](const PlanSummary& plan) { return !matches_pattern(problem_, plan.problem_key); });
            require_some(results.records.empty());
        }
        const Notice notice("drawing " + counted(results.records.size(), "trial"));
        const RunView view(results);
        if (format_ == "html") {
            write([&](TextSink& out) { write_run_page(out, view, files_.names().front()); });
        } else {
            draw(run_plot(view, plot_), about_run(results));
        }
        return ExitCode::good;
    }

    ExitCode of_two() {
        const auto [baseline, candidate] = read_both_sides(files_.names()[0], files_.names()[1]);
        Comparison comparison = compare(baseline, candidate, settings_);
        if (!comparison.not_comparable.empty()) {
            complain(comparison.not_comparable);
            return ExitCode::not_comparable;
        }
        if (!problem_.empty()) {
            std::erase_if(comparison.pairs,
                          [&](const Pair& pair) { return !matches_pattern(problem_, comparison.text(pair, &RowProblem::key)); });
            require_some(comparison.pairs.empty());
        }
        if (format_ == "html") {
            write([&](TextSink& out) { write_comparison_page(out, comparison, summarise(comparison)); });
        } else {
            draw(comparison_plot(comparison, plot_), about_comparison(comparison));
        }
        return ExitCode::good;
    }

    void require_some(bool none) const {
        if (none) {
            throw InputError(fmt::format("--problem {}: no problem of the results has such a key", quoted_for_message(problem_)));
        }
    }

    void draw(const Plot& plot, const std::string& about) const {
        if (plot.panels.empty()) {
            throw InputError(fmt::format("--plot {}: the results have nothing that it shows ({})", plot_, plot.title));
        }
        if (plot.name == "rounds" && plot.panels.size() > 1) {
            throw InputError(fmt::format("--plot rounds is of one problem, and {} have fresh rounds; give --problem {}", plot.panels.size(),
                                         plot.panels.front().title));
        }
        if (format_ == "png") {
            const std::string picture = png_of(plot, about);
            write([&](TextSink& out) { out += picture; });
        } else {
            write([&](TextSink& out) { write_svg(out, plot, about); });
        }
    }

    void write(const std::function<void(TextSink&)>& make) const {
        if (out_ == "-" && format_ == "png" && is_terminal(stdout)) {
            throw InputError("a picture is nothing that a terminal shows; give -o FILE");
        }
        write_output(out_, make);
    }

    RecordFiles files_;
    std::string out_;
    std::string problem_;
    std::string format_ = "html";
    std::string plot_;
    CompareSettings settings_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() {
    return std::make_unique<ReportCommand>();
}

}  // namespace normtune::cli
