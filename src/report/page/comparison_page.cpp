#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/comparable.h"
#include "report/comparison_report.h"
#include "report/page/data_table.h"
#include "report/page/html.h"
#include "report/page/pages.h"
#include "support/plural.h"

namespace normtune {
namespace {

using nlohmann::json;
using Kind = DataColumn::Kind;

constexpr std::array<std::string_view, 2> comparison_plots{"largest", "changes"};

bool drawn(const Pair& pair) {
    return pair.judged() && std::isfinite(pair.ratio) && pair.ratio > 0;
}

int style_of_verdict(Verdict verdict) {
    switch (verdict) {
        case Verdict::slower:
            return 1;
        case Verdict::faster:
            return 0;
        case Verdict::ambiguous:
            return 7;
        case Verdict::same_code:
            return 2;
        default:
            return 6;
    }
}

/// Room for all ratios, and for intervals about as far beyond them.
Scale change_scale(const std::vector<const Pair*>& pairs) {
    double low = 1;
    double high = 1;
    for (const Pair* pair : pairs) {
        low = std::min(low, pair->ratio);
        high = std::max(high, pair->ratio);
    }
    const double beyond = std::max(1.02, std::sqrt(high / low));
    double wide_low = low;
    double wide_high = high;
    for (const Pair* pair : pairs) {
        if (std::isfinite(pair->low) && std::isfinite(pair->high)) {
            wide_low = std::min(wide_low, std::max(pair->low, low / beyond));
            wide_high = std::max(wide_high, std::min(pair->high, high * beyond));
        }
    }
    return Scale::change(wide_low, wide_high);
}

/// A series a verdict; `mark` places the i-th pair.
template <typename Place>
std::vector<PlotSeries> by_verdict(const Comparison& comparison, const std::vector<const Pair*>& pairs, const Place& place) {
    std::map<Verdict, PlotSeries> series;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const Pair& pair = *pairs[i];
        PlotSeries& its = series[pair.verdict];
        its.name = verdict_word(pair.verdict, comparison.settings.metric);
        its.style = style_of_verdict(pair.verdict);
        its.marks.push_back(place(i, pair));
    }
    std::vector<PlotSeries> out;
    for (const Verdict verdict : {Verdict::slower, Verdict::faster, Verdict::ambiguous, Verdict::same_code, Verdict::same}) {
        if (const auto found = series.find(verdict); found != series.end()) {
            out.push_back(std::move(found->second));
        }
    }
    return out;
}

std::vector<const Pair*> sorted_by_ratio(const Comparison& comparison) {
    std::vector<const Pair*> out;
    for (const Pair& pair : comparison.pairs) {
        if (drawn(pair)) {
            out.push_back(&pair);
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const Pair* a, const Pair* b) { return a->ratio < b->ratio; });
    return out;
}

Numbers pair_numbers(const Comparison& comparison, const std::vector<const Pair*>& pairs) {
    const std::string_view unit = comparison.settings.metric == Metric::latency ? "µs" : "MiB";
    Numbers out{{"problem", "candidate", fmt::format(">before, {}", unit), fmt::format(">after, {}", unit), ">change", ">interval",
                 "evidence", "verdict"},
                {}};
    for (const Pair* pair : pairs) {
        std::vector<std::string> line = pair_cells(comparison, *pair);
        line.emplace_back(verdict_word(pair->verdict, comparison.settings.metric));
        out.lines.push_back(std::move(line));
    }
    return out;
}

Plot largest_plot(const Comparison& comparison) {
    constexpr std::size_t most_a_side = 20;
    Plot plot{
        "largest",
        "The largest changes",
        "What took more time after than before, and what took less: at most twenty of each, the largest first, with the interval of the "
        "change, corrected for the number of pairs. Dotted: no change. Logarithmic axis.",
        {}};
    std::vector<const Pair*> sorted = sorted_by_ratio(comparison);
    const auto middle = std::partition_point(sorted.begin(), sorted.end(), [](const Pair* pair) { return pair->ratio <= 1; });
    const auto add = [&](std::string title, std::vector<const Pair*> pairs) {
        pairs.resize(std::min(pairs.size(), most_a_side));
        if (pairs.empty()) {
            return;
        }
        Panel panel;
        panel.title = std::move(title);
        for (const Pair* pair : pairs) {
            const auto [operation, shape] = operation_and_shape(comparison.text(*pair, &RowProblem::key));
            panel.rows.push_back(shape.empty() ? operation : shape + " " + std::string(comparison.text(*pair, &RowProblem::mode)));
        }
        panel.series = by_verdict(comparison, pairs, [](std::size_t i, const Pair& pair) {
            return Mark{pair.ratio, static_cast<double>(i), pair.low, pair.high};
        });
        panel.x = {"change", change_scale(pairs)};
        panel.x_line = 1;
        panel.numbers = pair_numbers(comparison, pairs);
        plot.panels.push_back(std::move(panel));
    };
    add("more time after", {sorted.rbegin(), std::make_reverse_iterator(middle)});
    add("less time after", {sorted.begin(), middle});
    return plot;
}

Plot changes_plot(const Comparison& comparison) {
    constexpr std::size_t most = 1000;
    constexpr std::size_t most_shapes = 60;  // more would cover each other
    Plot plot{"changes",
              "All changes, by size",
              "Each pair that was measured on both sides, from the greatest gain to the greatest loss, with the interval of its change, "
              "corrected "
              "for the number of pairs. Logarithmic axis; a bar at an edge goes on beyond it. Of more than 1,000 pairs those called faster "
              "or slower are all drawn, of the others one in so many.",
              {}};
    std::map<std::string, std::vector<const Pair*>> groups;
    for (const Pair* pair : sorted_by_ratio(comparison)) {
        groups[operation_and_shape(comparison.text(*pair, &RowProblem::key)).first].push_back(pair);
    }
    for (auto& [group, pairs] : groups) {
        const std::size_t all = pairs.size();
        const std::size_t stride = (all + most - 1) / most;
        std::size_t place = 0;
        std::erase_if(pairs, [&](const Pair* pair) {
            return place++ % stride != 0 && pair->verdict != Verdict::slower && pair->verdict != Verdict::faster;
        });
        Panel panel;
        panel.title = pairs.size() == all ? fmt::format("{}, {}", group, counted(all, "pair"))
                                          : fmt::format("{}, {} of {} pairs", group, pairs.size(), all);
        panel.series = by_verdict(comparison, pairs, [](std::size_t i, const Pair& pair) {
            return Mark{static_cast<double>(i + 1), pair.ratio, pair.low, pair.high};
        });
        for (PlotSeries& series : panel.series) {
            series.draw = pairs.size() > most_shapes ? PlotSeries::Draw::cloud : PlotSeries::Draw::points;
        }
        panel.x = {"pairs, by change", Scale::linear(1, static_cast<double>(std::max<std::size_t>(pairs.size(), 2)))};
        panel.y = {"change", change_scale(pairs)};
        panel.numbers = pair_numbers(comparison, pairs);
        plot.panels.push_back(std::move(panel));
    }
    return plot;
}

std::vector<DataColumn> pair_columns(const Comparison& comparison) {
    const std::string unit = comparison.settings.metric == Metric::latency ? "µs" : "MiB";
    return {{"problem", "problem", Kind::name},
            {"candidate", "candidate", Kind::text},
            {"verdict", "verdict", Kind::name},
            {"size", "size of change %", Kind::number, "whichever way: what the table is sorted by at first"},
            {"change", "change %", Kind::number, "without what the floor and the control moved by"},
            {"low", "from %", Kind::number, "the interval, corrected for the number of pairs"},
            {"high", "to %", Kind::number, "the interval, corrected for the number of pairs"},
            {"before", "before " + unit, Kind::number},
            {"after", "after " + unit, Kind::number},
            {"evidence", "evidence", Kind::name},
            {"note", "note", Kind::detail}};
}

void write_pairs(TextSink& out, const Comparison& comparison) {
    const std::vector<DataColumn> columns = pair_columns(comparison);
    std::vector<DataNames> names(columns.size());
    const auto percent = [](double ratio) { return data_number((ratio - 1) * 100); };
    const auto row = [&](std::size_t i) {
        const Pair& pair = comparison.pairs[i];
        const double size = pair.ratio > 0 ? std::exp(std::abs(std::log(pair.ratio))) : no_value;
        return json::array({names[0].number(std::string(comparison.text(pair, &RowProblem::key))), comparison.configuration(pair),
                            names[2].number(std::string(verdict_word(pair.verdict, comparison.settings.metric))), percent(size),
                            percent(pair.ratio), percent(pair.low), percent(pair.high), data_number(pair.before), data_number(pair.after),
                            names[9].number(evidence_text(comparison, pair)), names[10].number(comparison.note(pair))});
    };
    for (std::size_t i = 0; i < comparison.pairs.size(); ++i) {  // names stand before the rows that speak of them
        row(i);
    }
    write_paragraph(out, "Find takes words, and conditions on columns such as change>2 or verdict=slower.", "caption");
    write_data_table(out, "Pairs", columns, "size", names, comparison.pairs.size(), row);
}

void write_summary(TextSink& out, const Comparison& comparison, const Summary& summary) {
    write_paragraph(out,
                    fmt::format("{} against {}: {}.", comparison.candidate->name, comparison.baseline->name,
                                verdict_counts(summary, comparison.settings.metric)),
                    "verdict");
    for (const std::string& remark : remarks_on(comparison)) {
        write_paragraph(out, remark, "warning");
    }
    Numbers numbers{{"of", ">pairs", ">slower", ">faster", ">geometric mean"}, {}};
    for (const RatioGroup& group : summary.groups) {
        numbers.lines.push_back({group.by == "all" ? "all" : group.by + " " + group.name, grouped(group.pairs), grouped(group.slower),
                                 grouped(group.faster), change_text(group.geometric_mean)});
    }
    write_table(out, "Changes by op, mode and site", numbers);
    write_paragraph(out, method_text(comparison), "caption");
}

void write_sides(TextSink& out, const Comparison& comparison) {
    for (const auto& [side, title] : {std::pair{comparison.baseline, "Baseline"}, std::pair{comparison.candidate, "Candidate"}}) {
        std::vector<std::pair<std::string, std::string>> facts{
            {"file", side->name}, {"format", std::string(result_format_names.name(side->format))}, {"rows", grouped(side->rows.size())}};
        for (std::size_t i = 0; i < facet_names.names.size(); ++i) {
            const std::string values = value_names(*side, static_cast<Facet>(i));
            facts.emplace_back(facet_names.names[i], values.empty() ? "not told" : values);
        }
        write_facts(out, title, facts);
    }
    const Floors& floors = comparison.floors;
    write_facts(
        out, "Between the two",
        {{"floor, µs", fmt::format("{} before, {} after", plot_number(floors.before_us), plot_number(floors.after_us))},
         {"copies", comparison.run_to_run.copies == 0 ? "none on both sides"
                                                      : fmt::format("{} by the median of {}", change_text(comparison.run_to_run.copy_ratio),
                                                                    comparison.run_to_run.copies)}});
}

}  // namespace

std::vector<std::string> comparison_plot_names() {
    return {comparison_plots.begin(), comparison_plots.end()};
}

Plot comparison_plot(const Comparison& comparison, std::string_view name) {
    return name == comparison_plots[0] ? largest_plot(comparison) : changes_plot(comparison);
}

std::string about_comparison(const Comparison& comparison) {
    return fmt::format("{} against {}: {}.", comparison.candidate->name, comparison.baseline->name,
                       verdict_counts(summarise(comparison), comparison.settings.metric));
}

void write_comparison_page(TextSink& out, const Comparison& comparison, const Summary& summary) {
    int next_id = 0;
    std::vector<PageSection> sections{{"summary", "Summary", [&](TextSink& to) { write_summary(to, comparison, summary); }}};
    for (const std::string_view name : comparison_plots) {
        if (Plot plot = comparison_plot(comparison, name); !plot.panels.empty()) {
            sections.push_back({plot.name, plot.title, [&next_id, plot](TextSink& to) { write_plot(to, plot, next_id); }});
        }
    }
    sections.push_back({"pairs", "Pairs", [&](TextSink& to) { write_pairs(to, comparison); }});
    sections.push_back({"sides", "Both sides", [&](TextSink& to) { write_sides(to, comparison); }});
    write_page(out, fmt::format("normtune: {} against {}", comparison.candidate->name, comparison.baseline->name), sections);
}

}  // namespace normtune
