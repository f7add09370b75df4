#include "report/history_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/escape.h"
#include "support/plural.h"

namespace normtune {
namespace {

constexpr std::size_t day_length = 10;        // "2026-11-20"
constexpr std::size_t most_comment = 60'000;  // GitHub refuses comments beyond 65,536 characters
constexpr std::size_t most_facet = 24;        // characters of a hash or a version

const std::string& started(const History& history, const SeriesTrend& trend, std::size_t night) {
    return history.runs[trend.series->nights[night].run].started;
}

std::string shortened(const std::string& text) {
    return text.size() <= most_facet ? text : text.substr(0, most_facet) + "…";
}

/// "+2.1% (+1.9% … +2.3%), p < 0.0001, told after 3 nights".
std::string change_line(const TrendChange& change) {
    const ChangePoint& point = change.point;
    std::string out = fmt::format("{}, p {}, told after {}", trend_interval_text(point.change), trend_p_text(point.p),
                                  counted(std::max(point.found, point.night) + 1 - point.night, "night"));
    if (change.floor_us != 0 || change.copy != 0) {
        out += fmt::format("; without{}{}: {}", change.floor_us != 0 ? fmt::format(" floor {:+.3f} µs", change.floor_us) : "",
                           change.copy != 0 ? fmt::format(" copy {}", trend_size_text(change.copy)) : "", trend_interval_text(change.own));
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
    std::vector<TrendListed> changes;
};

std::vector<Group> groups_of(const History& history, const Trend& trend) {
    std::vector<Group> out;
    for (const TrendListed& it : trend_changes(history, trend)) {
        const std::string title =
            fmt::format("{} {}", started(history, *it.trend, it.change->point.night).substr(0, day_length), trend_cause_line(*it.change));
        const auto found = std::find_if(out.begin(), out.end(), [&](const Group& group) { return group.title == title; });
        (found == out.end() ? out.emplace_back(Group{title, {}}) : *found).changes.push_back(it);
    }
    return out;
}

std::string regression_line(const SeriesTrend& series) {
    return fmt::format("{} slower than its best level (the policy allows {:.3g}%){}", trend_size_text(series.slower),
                       100 * series.threshold, series.known.empty() ? "" : "; " + series.known);
}

}  // namespace

std::string trend_verdict_text(const Trend& trend) {
    const auto regressed = std::count_if(trend.series.begin(), trend.series.end(), [](const SeriesTrend& it) { return it.regression; });
    std::size_t changes = 0;
    for (const SeriesTrend& series : trend.series) {
        changes += series.changes.size();
    }
    return fmt::format("{}: trend by policy {}: {} series, {}, {} in the newest run", regressed > 0 ? "fail" : "pass", trend.policy,
                       trend.series.size(), counted(changes, "change"), counted(static_cast<std::uint64_t>(regressed), "regression"));
}

std::string trend_series_text(const HistorySeries& series) {
    std::string out = series.trial.problem;
    out += series.trial.configuration.empty() ? "" : " " + series.trial.candidate();
    return series.trial.cold ? out : out + " (hot)";
}

std::string trend_cause_line(const TrendChange& change) {
    std::string out = trend_causes_text(change);
    for (const ChangedFacet& facet : change.changed) {
        if (facet.facet != Cause::code) {
            out += fmt::format("; {} {} → {}", cause_names.name(facet.facet), shortened(facet.before), shortened(facet.after));
        }
    }
    return out;
}

std::string trend_interval_text(const LevelChange& change) {
    return fmt::format("{} ({} … {})", trend_size_text(change.size), trend_size_text(change.low), trend_size_text(change.high));
}

std::vector<TrendListed> trend_changes(const History& history, const Trend& trend) {
    std::vector<TrendListed> out;
    for (const SeriesTrend& series : trend.series) {
        for (const TrendChange& change : series.changes) {
            out.push_back({&series, &change});
        }
    }
    std::stable_sort(out.begin(), out.end(), [&](const TrendListed& a, const TrendListed& b) {
        const std::string& night_a = started(history, *a.trend, a.change->point.night);
        const std::string& night_b = started(history, *b.trend, b.change->point.night);
        return night_a != night_b ? night_a > night_b : std::abs(a.change->point.change.size) > std::abs(b.change->point.change.size);
    });
    return out;
}

std::vector<const SeriesTrend*> trend_regressions(const Trend& trend) {
    std::vector<const SeriesTrend*> out;
    for (const SeriesTrend& series : trend.series) {
        if (series.regression || !series.known.empty()) {
            out.push_back(&series);
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const SeriesTrend* a, const SeriesTrend* b) { return a->slower > b->slower; });
    return out;
}

std::string trend_p_text(double p) {
    return p < 1e-4 ? "< 0.0001" : fmt::format("{:.4f}", p);
}

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

std::vector<Section> history_sections(std::span<const HistoryRunSummary> runs) {
    Table table("started|>trials|device|device id|driver|revision|compiler");
    for (const HistoryRunSummary& it : runs) {
        const HistoryRun& run = it.run;
        table.add({run.started, grouped(static_cast<std::uint64_t>(it.trials)), run.device, run.device_id, run.driver,
                   shortened(run.revision), shortened(run.compiler)});
    }
    return {{"", std::move(table), runs.empty() ? "No run.\n" : ""}};
}

std::vector<Section> trend_sections(const History& history, const Trend& trend, bool grouped) {
    std::vector<Section> out{{trend_verdict_text(trend), Table(), ""}};
    for (const std::string& remark : trend.remarks) {
        out[0].note += remark + ".\n";
    }
    Table regressions("series|>slower|>allowed|known");
    for (const SeriesTrend* series : trend_regressions(trend)) {
        regressions.add({trend_series_text(*series->series), trend_size_text(series->slower),
                         fmt::format("{:.3g}%", 100 * series->threshold), series->known},
                        series->known.empty() ? Tone::bad : Tone::unsure);
    }
    if (!regressions.empty()) {
        out.push_back({"Regressions of the newest run: slower than their best level", std::move(regressions), ""});
    }
    Table changes(grouped ? "night|>series|>largest|interval|p|>told after|cause, and what changed with it|largest in"
                          : "night|>change|>low|>high|>p|>told after|cause, and what changed with it|code|>without floor and copy|series");
    for (const Group& group : groups_of(history, trend)) {
        for (const TrendListed& it : group.changes) {
            const TrendChange& change = *it.change;
            const LevelChange& level = change.point.change;
            const std::string night = group.title.substr(0, day_length);
            const std::string told = counted(std::max(change.point.found, change.point.night) + 1 - change.point.night, "night");
            const std::string moved = change.floor_us != 0 ? fmt::format("; floor {:+.3f} µs", change.floor_us) : "";
            const Tone tone = !change.judged ? Tone::plain : change.own.size > 0 ? Tone::bad : Tone::good;
            if (grouped) {
                changes.add({night, fmt::format("{} of {}", group.changes.size(), change.of), trend_size_text(level.size),
                             fmt::format("{} … {}", trend_size_text(level.low), trend_size_text(level.high)), trend_p_text(change.point.p),
                             told, trend_cause_line(change) + moved, trend_series_text(*it.trend->series)},
                            tone);
                break;
            }
            changes.add({night, trend_size_text(level.size), trend_size_text(level.low), trend_size_text(level.high),
                         fmt::format("{:.2g}", change.point.p), told, trend_cause_line(change) + moved, code_line(change),
                         trend_size_text(change.own.size), trend_series_text(*it.trend->series)},
                        tone);
        }
    }
    if (!changes.empty()) {
        out.push_back({"Changes, the newest first", std::move(changes),
                       grouped ? "A row a night and cause; --sort night, or another format, has a row a change.\n" : ""});
    }
    return out;
}

std::string trend_markdown(const History& history, const Trend& trend) {
    std::string out = "### normtune history trend\n\n" + for_markdown(trend_verdict_text(trend)) + "\n\n";
    for (const std::string& remark : trend.remarks) {
        out += "- " + for_markdown(remark) + "\n";
    }
    out += trend.remarks.empty() ? "" : "\n";
    std::size_t left_out = 0;
    const auto add = [&](std::string& rows, const std::vector<std::string>& cells) {
        const std::string row = markdown_row(cells);
        if (out.size() + rows.size() + row.size() > most_comment) {
            ++left_out;
        } else {
            rows += row;
        }
    };
    if (const std::vector<const SeriesTrend*> regressions = trend_regressions(trend); !regressions.empty()) {
        std::string rows;
        for (const SeriesTrend* series : regressions) {
            add(rows, {markdown_code(trend_series_text(*series->series)), for_markdown(regression_line(*series))});
        }
        out += Table("series|regression").markdown() + rows + "\n";
    }
    const std::vector<TrendListed> changes = trend_changes(history, trend);
    std::string rows;
    for (const TrendListed& it : changes) {
        const std::string code = code_line(*it.change);
        add(rows,
            {started(history, *it.trend, it.change->point.night).substr(0, day_length), markdown_code(trend_series_text(*it.trend->series)),
             for_markdown(change_line(*it.change)), for_markdown(trend_cause_line(*it.change) + (code.empty() ? "" : "; " + code))});
    }
    if (!rows.empty()) {
        out += fmt::format("<details><summary>{}</summary>\n\n{}{}\n</details>\n", counted(changes.size(), "change"),
                           Table("night|series|change|cause, and what changed with it").markdown(), rows);
    }
    return left_out > 0 ? out + fmt::format("\n… and {} more {}.\n", left_out, plural(left_out, "row")) : out;
}

}  // namespace normtune
