#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "measure/statistics.h"
#include "report/history_report.h"
#include "report/page/html.h"
#include "report/page/pages.h"
#include "report/table.h"
#include "support/clock.h"
#include "support/plural.h"

namespace normtune {
namespace {

constexpr std::size_t most_series = 40;  // of a page that opens soon
constexpr std::size_t most_changes = 500;
constexpr std::size_t most_shapes = 120;  // nights; of more the marks would cover each other
constexpr std::size_t date_length = 10;   // "2026-11-20"
constexpr double seconds_a_day = 86'400;

double days_of(const std::string& timestamp) {
    const auto number = [&](std::size_t at, std::size_t length) {
        int out = 0;
        std::from_chars(timestamp.data() + at, timestamp.data() + at + length, out);
        return out;
    };
    const std::chrono::year_month_day day{std::chrono::year(number(0, 4)), std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                          std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    const int seconds = (number(11, 2) * 60 + number(14, 2)) * 60 + number(17, 2);
    return static_cast<double>(std::chrono::sys_days(day).time_since_epoch().count()) + seconds / seconds_a_day;
}

std::string timestamp_of(double days) {
    return utc_timestamp(static_cast<std::time_t>(std::llround(days * seconds_a_day)));
}

std::string value_of(double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : "-";
}

std::string causes_of(const TrendChange& change) {
    std::vector<std::string_view> names;
    for (const Cause cause : change.causes) {
        names.push_back(cause_names.name(cause));
    }
    return fmt::format("{}", fmt::join(names, " or "));
}

std::string event_text(const TrendChange& change) {
    return fmt::format("{}: {}", causes_of(change), trend_interval_text(change.point.change));
}

/// A series with its nights' places and levels.
class Drawn {
public:
    Drawn(const History& history, const SeriesTrend& trend, std::string group) : trend_(trend), group_(std::move(group)) {
        for (const HistoryNight& night : nights()) {
            days_.push_back(days_of(history.runs[night.run].started));
        }
        std::vector<std::size_t> bounds{0};
        for (const TrendChange& change : trend.changes) {
            bounds.push_back(change.point.night);
        }
        bounds.push_back(nights().size());
        std::sort(bounds.begin(), bounds.end());
        for (std::size_t i = 1; i < bounds.size(); ++i) {
            std::vector<double> times;
            for (std::size_t night = bounds[i - 1]; night < bounds[i]; ++night) {
                times.push_back(nights()[night].times.p50_us);
            }
            levels_.resize(bounds[i], times.empty() ? not_there : median(times));
        }
        bounds_ = std::move(bounds);
    }

    Panel time() const {
        Panel panel = of("p50", true);
        for (std::size_t i = 1; i < bounds_.size(); ++i) {
            if (bounds_[i - 1] < bounds_[i]) {
                const double level = levels_[bounds_[i - 1]];
                panel.series.push_back(
                    {"level", 1, PlotSeries::Draw::dashed, {{days_[bounds_[i - 1]], level}, {days_[bounds_[i] - 1], level}}});
            }
        }
        PlotSeries times{"p50", 0, draw(), {}};
        for (std::size_t i = 0; i < nights().size(); ++i) {
            const HistoryTimes& it = nights()[i].times;
            const bool bar = std::isfinite(it.p20_us) && std::isfinite(it.p80_us);
            times.marks.push_back({days_[i], it.p50_us, bar ? it.p20_us : not_there, bar ? it.p80_us : not_there});
        }
        panel.y.scale = scale_of(times.marks, std::min(panel.events.size(), most_event_lines));
        panel.series.push_back(std::move(times));
        panel.numbers = numbers();
        return panel;
    }

    /// What the same runs say of the machine; without marks where they say nothing.
    Panel control(const std::string& name, int style, double HistoryTimes::*time) const {
        Panel panel = of(name, false);
        PlotSeries series{name, style, draw(), {}};
        for (std::size_t i = 0; i < nights().size(); ++i) {
            if (const double value = nights()[i].times.*time; std::isfinite(value)) {
                series.marks.push_back({days_[i], value});
            }
        }
        panel.y.scale = scale_of(series.marks, 0);
        panel.series.push_back(std::move(series));
        return panel;
    }

private:
    const std::vector<HistoryNight>& nights() const { return trend_.series->nights; }
    PlotSeries::Draw draw() const { return nights().size() > most_shapes ? PlotSeries::Draw::band : PlotSeries::Draw::points; }

    Panel of(std::string title, bool labelled) const {
        Panel panel;
        panel.group = group_;
        panel.title = std::move(title);
        panel.x = {"night", Scale::dates(days_.front(), days_.back()), timestamp_of};
        panel.y = {"µs", {}, value_of};
        for (const TrendChange& change : trend_.changes) {
            const std::size_t night = change.point.night;
            const double before = night > 0 ? days_[night - 1] : days_[night];
            panel.events.push_back({(before + days_[night]) / 2, event_text(change), labelled});
        }
        return panel;
    }

    /// Of the values, and of bars that reach about as far; with room for lines of labels above.
    static Scale scale_of(const std::vector<Mark>& marks, std::size_t lines) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        for (const Mark& mark : marks) {
            low = std::min(low, mark.y);
            high = std::max(high, mark.y);
        }
        if (!(low <= high)) {
            return {};
        }
        constexpr double least_share = 0.002;
        const double beyond = std::max((high - low) / 2, high * least_share);
        double wide_low = low;
        double wide_high = high;
        for (const Mark& mark : marks) {
            wide_low = std::isnan(mark.low) ? wide_low : std::min(wide_low, std::max(mark.low, low - beyond));
            wide_high = std::isnan(mark.high) ? wide_high : std::max(wide_high, std::min(mark.high, high + beyond));
        }
        constexpr double line_share = 0.08;
        return Scale::linear(wide_low, wide_high + (wide_high - wide_low) * line_share * static_cast<double>(lines));
    }

    Numbers numbers() const {
        Numbers out{{"night", ">p20, µs", ">p50, µs", ">p80, µs", ">level, µs", "change"}, {}};
        for (std::size_t i = 0; i < nights().size(); ++i) {
            const HistoryTimes& it = nights()[i].times;
            std::string change;
            for (const TrendChange& one : trend_.changes) {
                change = one.point.night == i ? event_text(one) : change;
            }
            out.lines.push_back(
                {timestamp_of(days_[i]), value_of(it.p20_us), value_of(it.p50_us), value_of(it.p80_us), value_of(levels_[i]), change});
        }
        return out;
    }

    const SeriesTrend& trend_;
    std::string group_;
    std::vector<double> days_;    // of each night
    std::vector<double> levels_;  // of each night: the median of those between two changes
    std::vector<std::size_t> bounds_;
};

/// Regressions first, then what changed, the latest first, then what did not.
std::vector<const SeriesTrend*> in_order(const History& history, const Trend& trend) {
    const auto last = [&](const SeriesTrend& it) {
        return it.changes.empty() ? std::string() : history.runs[it.series->nights[it.changes.back().point.night].run].started;
    };
    std::vector<const SeriesTrend*> out;
    for (const SeriesTrend& it : trend.series) {
        if (!it.series->nights.empty()) {
            out.push_back(&it);
        }
    }
    std::stable_sort(out.begin(), out.end(), [&](const SeriesTrend* a, const SeriesTrend* b) {
        return a->regression != b->regression ? a->regression : last(*a) > last(*b);
    });
    return out;
}

Plot plot_of(const History& history, const Trend& trend) {
    std::vector<const SeriesTrend*> series = in_order(history, trend);
    const std::size_t all = series.size();
    series.resize(std::min(all, most_series));
    Plot plot{
        "series",
        "Night by night",
        fmt::format("p50 with bars from p20 to p80 (of more than {} nights a line in a band), which go on beyond an edge that they touch; "
                    "dashed: the level, the median of the nights between two changes. A dotted line is a change, with its cause, its size "
                    "and the 95% interval. Beside it the copy and the floor (an empty launch) of the same runs. No axis begins at 0. "
                    "Regressions come first, then the series that changed last.",
                    most_shapes),
        {}};
    if (all > most_series) {
        plot.caption += fmt::format(" {} of {} series are drawn; --problem, --config and --device-name choose others.", most_series, all);
    }
    const bool devices = std::any_of(series.begin(), series.end(),
                                     [&](const SeriesTrend* it) { return it->series->device != series.front()->series->device; });
    for (const SeriesTrend* it : series) {
        const Drawn drawn(history, *it, trend_series_text(*it->series) + (devices ? " on " + it->series->device : ""));
        plot.panels.push_back(drawn.time());
        for (const Panel& panel : {drawn.control("copy", 6, &HistoryTimes::copy_us), drawn.control("floor", 2, &HistoryTimes::floor_us)}) {
            if (!panel.series.front().marks.empty()) {
                plot.panels.push_back(panel);
            }
        }
    }
    return plot;
}

void write_summary(TextSink& out, const History& history, const Trend& trend) {
    write_paragraph(out, trend_verdict_text(trend) + ".", "verdict");
    for (const std::string& remark : trend.remarks) {
        write_paragraph(out, remark + ".", "warning");
    }
    const std::vector<const SeriesTrend*> regressions = trend_regressions(trend);
    const auto regressed = std::count_if(regressions.begin(), regressions.end(), [](const SeriesTrend* it) { return it->regression; });
    write_cards(out, {{grouped(static_cast<std::uint64_t>(regressed)), "regressions in the newest run"},
                      {grouped(trend_changes(history, trend).size()), "changes"},
                      {grouped(trend.series.size()), "series"},
                      {grouped(history.runs.size()), "runs"}});
    if (!regressions.empty()) {
        Numbers numbers{{"series", ">slower", ">allowed", "known"}, {}};
        for (const SeriesTrend* it : regressions) {
            numbers.lines.push_back({trend_series_text(*it->series), trend_size_text(it->slower),
                                     fmt::format("{:.3g}%", 100 * it->threshold), it->known.empty() ? "no" : it->known});
        }
        write_table(out, "Regressions of the newest run: slower than their best level", numbers);
    }
}

void write_changes(TextSink& out, const History& history, const Trend& trend) {
    const std::vector<TrendListed> changes = trend_changes(history, trend);
    if (changes.empty()) {
        write_paragraph(out, "No series changed.");
        return;
    }
    Numbers numbers{
        {"night", ">change", ">95% interval", ">p", "cause, and what changed with it", "series", ">without floor and copy", ">told after"},
        {}};
    for (const TrendListed& it : changes) {
        if (numbers.lines.size() == most_changes) {
            write_paragraph(out, fmt::format("The newest {} of {} changes; --problem, --config and --device-name choose others.",
                                             most_changes, changes.size()));
            break;
        }
        const ChangePoint& point = it.change->point;
        const std::string floor = it.change->floor_us != 0 ? fmt::format("; floor {:+.3f} µs", it.change->floor_us) : "";
        numbers.lines.push_back(
            {history.runs[it.trend->series->nights[point.night].run].started.substr(0, date_length), trend_size_text(point.change.size),
             fmt::format("{} … {}", trend_size_text(point.change.low), trend_size_text(point.change.high)), trend_p_text(point.p),
             trend_cause_line(*it.change) + floor, trend_series_text(*it.trend->series), trend_size_text(it.change->own.size),
             counted(std::max(point.found, point.night) + 1 - point.night, "night")});
    }
    write_table(out, "Changes, the newest first", numbers);
}

void write_runs(TextSink& out, const History& history) {
    Numbers numbers{{"began", "device", "driver", "revision", "compiler"}, {}};
    for (std::size_t i = history.runs.size(); i-- > 0;) {
        const HistoryRun& run = history.runs[i];
        numbers.lines.push_back({run.started, run.device, run.driver, run.revision, run.compiler});
    }
    write_table(out, "Runs, the newest first", numbers);
}

}  // namespace

void write_trend_page(TextSink& out, const History& history, const Trend& trend) {
    int next_id = 0;
    const Plot plot = plot_of(history, trend);
    const auto day = [](const HistoryRun& run) { return run.started.substr(0, date_length); };
    const std::string nights = history.runs.empty() ? "" : fmt::format(", {} to {}", day(history.runs.front()), day(history.runs.back()));
    write_page(out, "normtune: history" + nights,
               {{"summary", "Summary", [&](TextSink& to) { write_summary(to, history, trend); }},
                {"changes", "Changes", [&](TextSink& to) { write_changes(to, history, trend); }},
                {plot.name, plot.title, [&](TextSink& to) { write_plot(to, plot, next_id); }},
                {"runs", "Runs", [&](TextSink& to) { write_runs(to, history); }}});
}

}  // namespace normtune
