#include "report/history_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/escape.h"

namespace normtune {
namespace {

constexpr std::size_t most_of_group = 5;
constexpr std::size_t most_groups = 50;
constexpr std::size_t most_markdown = 60'000;  // GitHub refuses comments beyond 65,536 characters
constexpr std::size_t most_facet = 24;         // characters of a hash or a version

struct Listed {
    const SeriesTrend* trend;
    const TrendChange* change;
};

const std::string& started(const History& history, const SeriesTrend& trend, std::size_t night) {
    return history.runs[trend.series->nights[night].run].started;
}

/// The newest first; those of one night by size.
std::vector<Listed> changes_of(const History& history, const Trend& trend) {
    std::vector<Listed> out;
    for (const SeriesTrend& series : trend.series) {
        for (const TrendChange& change : series.changes) {
            out.push_back({&series, &change});
        }
    }
    std::stable_sort(out.begin(), out.end(), [&](const Listed& a, const Listed& b) {
        const std::string& night_a = started(history, *a.trend, a.change->point.night);
        const std::string& night_b = started(history, *b.trend, b.change->point.night);
        return night_a != night_b ? night_a > night_b : std::abs(a.change->point.change.size) > std::abs(b.change->point.change.size);
    });
    return out;
}

/// The most slowed first.
std::vector<const SeriesTrend*> regressions_of(const Trend& trend) {
    std::vector<const SeriesTrend*> out;
    for (const SeriesTrend& series : trend.series) {
        if (series.regression || !series.known.empty()) {
            out.push_back(&series);
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const SeriesTrend* a, const SeriesTrend* b) { return a->slower > b->slower; });
    return out;
}

std::string name_of(const HistorySeries& series) {
    std::string out = series.trial.problem;
    out += series.trial.configuration.empty() ? "" : " " + series.trial.candidate();
    return series.trial.cold ? out : out + " (hot)";
}

std::string shortened(const std::string& text) {
    return text.size() <= most_facet ? text : text.substr(0, most_facet) + "…";
}

std::string p_text(double p) {
    return p < 1e-4 ? "p < 0.0001" : fmt::format("p {:.4f}", p);
}

std::string interval_text(const LevelChange& change) {
    return fmt::format("{} ({} … {})", trend_size_text(change.size), trend_size_text(change.low), trend_size_text(change.high));
}

/// "+2.1% (+1.9% … +2.3%), p < 0.0001, told after 3 nights".
std::string change_line(const TrendChange& change) {
    const ChangePoint& point = change.point;
    std::string out = fmt::format("{}, {}, told after {} nights", interval_text(point.change), p_text(point.p),
                                  std::max(point.found, point.night) + 1 - point.night);
    if (change.floor_us != 0 || change.copy != 0) {
        out += fmt::format("; without{}{}: {}", change.floor_us != 0 ? fmt::format(" floor {:+.3f} µs", change.floor_us) : "",
                           change.copy != 0 ? fmt::format(" copy {}", trend_size_text(change.copy)) : "", interval_text(change.own));
    }
    return out;
}

/// "cause: floor; driver 580.1 → 590.1".
std::string cause_line(const TrendChange& change) {
    std::string out = trend_causes_text(change);
    for (const ChangedFacet& facet : change.changed) {
        if (facet.facet != Cause::code) {
            out += fmt::format("; {} {} → {}", cause_names.name(facet.facet), shortened(facet.before), shortened(facet.after));
        }
    }
    return out;
}

/// "code abc → def"; empty: it did not change.
std::string code_line(const TrendChange& change) {
    for (const ChangedFacet& facet : change.changed) {
        if (facet.facet == Cause::code) {
            return fmt::format("code {} → {}", shortened(facet.before), shortened(facet.after));
        }
    }
    return "";
}

/// Changes of one night with one cause.
struct Group {
    std::string title;
    std::vector<Listed> changes;
};

std::vector<Group> groups_of(const History& history, const Trend& trend) {
    std::vector<Group> out;
    for (const Listed& it : changes_of(history, trend)) {
        const std::string title =
            fmt::format("{} {}", started(history, *it.trend, it.change->point.night).substr(0, 10), cause_line(*it.change));
        const auto found = std::find_if(out.begin(), out.end(), [&](const Group& group) { return group.title == title; });
        (found == out.end() ? out.emplace_back(Group{title, {}}) : *found).changes.push_back(it);
    }
    return out;
}

std::string verdict_line(const Trend& trend) {
    const auto regressed = std::count_if(trend.series.begin(), trend.series.end(), [](const SeriesTrend& it) { return it.regression; });
    std::size_t changes = 0;
    for (const SeriesTrend& series : trend.series) {
        changes += series.changes.size();
    }
    return fmt::format("{}: trend by policy {}: {} series, {} changes, {} regressions in the newest run", regressed > 0 ? "fail" : "pass",
                       trend.policy, trend.series.size(), changes, regressed);
}

std::string regression_line(const SeriesTrend& series) {
    return fmt::format("{} slower than its best level (the policy allows {:.3g}%){}", trend_size_text(series.slower),
                       100 * series.threshold, series.known.empty() ? "" : "; " + series.known);
}

}  // namespace

std::string trend_size_text(double log_ratio) {
    const double percent = 100 * std::expm1(log_ratio);
    return std::abs(percent) < 10     ? fmt::format("{:+.2f}%", percent)
           : std::abs(percent) < 1000 ? fmt::format("{:+.0f}%", percent)
                                      : "more than 1000%";
}

std::string trend_causes_text(const TrendChange& change) {
    switch (change.causes.front()) {
        case Cause::machine:
            return "cause: the machine: the code is the same, and nothing that is recorded changed";
        case Cause::unknown:
            return "cause: not known: the code is not recorded, and nothing that is changed";
        case Cause::revision:
            return "cause: perhaps the revision: the code is not recorded";
        default:
            break;
    }
    std::string out = "cause: ";
    for (std::size_t i = 0; i < change.causes.size(); ++i) {
        out += i == 0 ? "" : " or ";
        out += cause_names.name(change.causes[i]);
    }
    return change.causes.size() > 1 && change.floor_us == 0 && change.copy == 0 ? out + ": they changed together" : out;
}

std::string history_runs_text(std::span<const HistoryRunSummary> runs, bool markdown, const Style& style) {
    Table table("started|>trials|device|driver|revision|compiler");
    for (const HistoryRunSummary& it : runs) {
        const HistoryRun& run = it.run;
        table.add({run.started, grouped(static_cast<std::uint64_t>(it.trials)),
                   run.device_id.empty() ? run.device : fmt::format("{} {}", run.device, shortened(run.device_id)), run.driver,
                   shortened(run.revision), shortened(run.compiler)});
    }
    return markdown ? table.markdown() : table.text(style);
}

std::string trend_text(const History& history, const Trend& trend, const Style& style) {
    std::string out = style.bold(for_terminal(verdict_line(trend))) + "\n";
    for (const std::string& remark : trend.remarks) {
        out += for_terminal(remark) + ".\n";
    }
    const std::vector<const SeriesTrend*> regressions = regressions_of(trend);
    if (!regressions.empty()) {
        out += "\n" + style.bold("Regressions of the newest run") + "\n";
        for (const SeriesTrend* series : regressions) {
            out += for_terminal(name_of(*series->series)) + "\n  " + for_terminal(regression_line(*series)) + "\n";
        }
    }
    const std::vector<Group> groups = groups_of(history, trend);
    if (!groups.empty()) {
        out += "\n" + style.bold("Changes, the newest first") + "\n";
    }
    for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
        const Group& group = groups[i];
        out += fmt::format("{} ({} of {} series)\n", for_terminal(group.title), group.changes.size(), group.changes.front().change->of);
        for (std::size_t k = 0; k < std::min(group.changes.size(), most_of_group); ++k) {
            const Listed& it = group.changes[k];
            const std::string code = code_line(*it.change);
            out += "  " + for_terminal(name_of(*it.trend->series)) + "\n    " + for_terminal(change_line(*it.change)) + "\n";
            out += code.empty() ? "" : "    " + for_terminal(code) + "\n";
        }
        if (group.changes.size() > most_of_group) {
            out += fmt::format("  … and {} more\n", group.changes.size() - most_of_group);
        }
    }
    if (groups.size() > most_groups) {
        out += fmt::format("… and {} more (--format json has all)\n", groups.size() - most_groups);
    }
    return out;
}

std::string trend_markdown(const History& history, const Trend& trend) {
    std::string out = "### normtune history trend\n\n" + for_markdown(verdict_line(trend)) + "\n\n";
    for (const std::string& remark : trend.remarks) {
        out += "- " + for_markdown(remark) + "\n";
    }
    out += trend.remarks.empty() ? "" : "\n";
    std::size_t left_out = 0;
    const auto add = [&](std::string& rows, const std::vector<std::string>& cells) {
        const std::string row = markdown_row(cells);
        if (out.size() + rows.size() + row.size() > most_markdown) {
            ++left_out;
        } else {
            rows += row;
        }
    };
    if (const std::vector<const SeriesTrend*> regressions = regressions_of(trend); !regressions.empty()) {
        std::string rows;
        for (const SeriesTrend* series : regressions) {
            add(rows, {markdown_code(name_of(*series->series)), for_markdown(regression_line(*series))});
        }
        out += Table("series|regression").markdown() + rows + "\n";
    }
    const std::vector<Listed> changes = changes_of(history, trend);
    std::string rows;
    for (const Listed& it : changes) {
        const std::string code = code_line(*it.change);
        add(rows, {started(history, *it.trend, it.change->point.night).substr(0, 10), markdown_code(name_of(*it.trend->series)),
                   for_markdown(change_line(*it.change)), for_markdown(cause_line(*it.change) + (code.empty() ? "" : "; " + code))});
    }
    if (!rows.empty()) {
        out += fmt::format("<details><summary>{} changes</summary>\n\n{}{}\n</details>\n", changes.size(),
                           Table("night|series|change|cause, and what changed with it").markdown(), rows);
    }
    return left_out > 0 ? out + fmt::format("\n… and {} more rows.\n", left_out) : out;
}

}  // namespace normtune
