#include "report/page/run_plots.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr std::size_t most_panel_rows = 40;  // of a panel
constexpr int copy_style = 6;

/// The ends of what was seen.
struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    bool empty() const { return low > high; }
    void add(double value) {
        if (std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
};

/// What an axis has to have room for: all marks, and of their intervals what is within a third of the marks' range about it.
Range range_with_intervals(const std::vector<PlotSeries>& all, double Mark::*value) {
    Range marks;
    Range out;
    for (const PlotSeries& series : all) {
        for (const Mark& mark : series.marks) {
            marks.add(mark.*value);
        }
    }
    const double beyond = std::max(1.1, std::cbrt(marks.high / marks.low));
    for (const PlotSeries& series : all) {
        for (const Mark& mark : series.marks) {
            out.add(mark.*value);
            if (!std::isnan(mark.low)) {
                out.add(std::max(mark.low, marks.low / beyond));
                out.add(std::min(mark.high, marks.high * beyond));
            }
        }
    }
    return out;
}

/// The trial's time over that of the copy in the same rounds; bars from p20 to p80.
void add_limit_mark(PlotSeries& series, const Standing* standing, std::size_t row) {
    if (standing != nullptr && standing->record->measurement->limit_us > 0) {
        const Measurement& m = *standing->record->measurement;
        series.marks.push_back({m.limit_ratio, static_cast<double>(row), m.p20_us / m.limit_us, m.p80_us / m.limit_us});
    }
}

std::string provider_name(const RunView& run, std::size_t provider) {
    return provider == 0 && run.providers[0] == own_provider ? "normtune" : run.providers[provider];
}

Panel limit_panel(const RunView& run, std::span<const ProblemView* const> problems) {
    Panel panel;
    for (std::size_t i = 0; i < run.providers.size(); ++i) {
        panel.series.push_back({provider_name(run, i), provider_style(i), PlotSeries::Draw::points, {}});
    }
    for (std::size_t i = 0; i < run.heuristics.size(); ++i) {
        panel.series.push_back({run.heuristics[i].name(), 1 + static_cast<int>(i) % 4, PlotSeries::Draw::points, {}});
    }
    for (const ProblemView* problem : problems) {
        const std::size_t row = panel.rows.size();
        panel.rows.push_back(problem->shape);
        for (std::size_t i = 0; i < run.providers.size(); ++i) {
            add_limit_mark(panel.series[i], problem->best_of[i], row);
        }
        for (std::size_t i = 0; i < run.heuristics.size(); ++i) {
            add_limit_mark(panel.series[run.providers.size() + i], problem->heuristic[i], row);
        }
    }
    std::erase_if(panel.series, [](const PlotSeries& series) { return series.marks.empty(); });
    Range range = range_with_intervals(panel.series, &Mark::x);
    range.add(1);
    panel.x = {"p50 over the p50 of the copy", Scale::log(range.low, range.high)};
    panel.x_line = 1;
    return panel;
}

}  // namespace

int provider_style(std::size_t provider) {
    constexpr int of_others[] = {5, 7, 6};
    return provider == 0 ? 0 : of_others[(provider - 1) % 3];
}

Plot limit_plot(const RunView& run) {
    Plot plot{
        "limit",
        "Time over the time of a copy",
        "The fastest candidate of each provider, and the fastest that obeys each named heuristic: p50 over the p50 of the fastest copy of "
        "the same bytes in the same rounds; bars: p20 to p80. Dotted: as fast as the copy. Logarithmic axis; rows are M×N.",
        {}};
    for (const auto& [group, problems] : run.by_group()) {
        for (std::size_t from = 0; from < problems.size(); from += most_panel_rows) {
            const std::size_t count = std::min(most_panel_rows, problems.size() - from);
            Panel panel = limit_panel(run, std::span(problems).subspan(from, count));
            panel.title = problems.size() <= most_panel_rows
                              ? group
                              : fmt::format("{}, {} to {} of {}", group, from + 1, from + count, problems.size());
            if (!panel.series.empty()) {
                plot.panels.push_back(std::move(panel));
            }
        }
    }
    return plot;
}

namespace {

/// Each provider's best and the copy, along the axis that `along` tells.
std::vector<PlotSeries> throughput_series(const RunView& run, const std::vector<const ProblemView*>& problems,
                                          const std::function<double(const ProblemView&)>& along) {
    std::vector<PlotSeries> out;
    for (std::size_t i = 0; i < run.providers.size(); ++i) {
        PlotSeries series{provider_name(run, i), provider_style(i), PlotSeries::Draw::line, {}};
        for (const ProblemView* problem : problems) {
            if (const Standing* best = problem->best_of[i]; best != nullptr) {
                const Measurement& m = *best->record->measurement;
                series.marks.push_back({along(*problem), m.gbps, m.gbps * m.p50_us / m.p80_us, m.gbps * m.p50_us / m.p20_us});
            }
        }
        if (!series.marks.empty()) {
            out.push_back(std::move(series));
        }
    }
    PlotSeries copy{"copy", copy_style, PlotSeries::Draw::dashed, {}};
    for (const ProblemView* problem : problems) {
        if (problem->winner().limit_us > 0) {
            copy.marks.push_back({along(*problem), problem->winner().gbps * problem->winner().limit_ratio});
        }
    }
    if (!copy.marks.empty()) {
        out.push_back(std::move(copy));
    }
    return out;
}

}  // namespace

Plot throughput_plot(const RunView& run, bool over_rows) {
    const char along_name = over_rows ? 'M' : 'N';
    const char panel_name = over_rows ? 'N' : 'M';
    Plot plot{
        over_rows ? "rows" : "cols",
        fmt::format("GB/s against {}", over_rows ? "rows (M)" : "columns (N)"),
        fmt::format("The least bytes of the problem over the p50 of each provider's fastest candidate; bars: p20 to p80. Dashed: the same "
                    "bytes over the time of the copy in the winner's rounds. A panel for each {} that was measured at several {}; both "
                    "axes are logarithmic, and alike in all panels of an operation. 10⁹ bytes are a GB.",
                    panel_name, along_name),
        {}};
    const auto along = [&](const ProblemView& problem) {
        const Shape& shape = problem.ranking->problem().shape;
        return static_cast<double>(over_rows ? shape.rows : shape.cols);
    };
    for (const auto& [group, problems] : run.by_group()) {
        std::map<std::int64_t, std::vector<const ProblemView*>> panels;
        for (const ProblemView* problem : problems) {
            const Shape& shape = problem->ranking->problem().shape;
            panels[over_rows ? shape.cols : shape.rows].push_back(problem);
        }
        std::erase_if(panels, [](const auto& one) { return one.second.size() < 2; });
        Range x;
        Range y;
        const std::size_t first = plot.panels.size();
        for (const auto& [size, members] : panels) {
            Panel panel;
            panel.group = group;
            panel.title = fmt::format("{} = {}", panel_name, size);
            panel.series = throughput_series(run, members, along);
            for (const PlotSeries& series : panel.series) {
                for (const Mark& mark : series.marks) {
                    x.add(mark.x);
                    y.add(mark.y);
                }
            }
            plot.panels.push_back(std::move(panel));
        }
        for (std::size_t i = first; i < plot.panels.size(); ++i) {
            std::set<double> ticks;
            for (const PlotSeries& series : plot.panels[i].series) {
                for (const Mark& mark : series.marks) {
                    ticks.insert(mark.x);
                }
            }
            plot.panels[i].x = {std::string(over_rows ? "rows M" : "columns N"), Scale::log(x.low, x.high, {ticks.begin(), ticks.end()})};
            plot.panels[i].y = {"GB/s", Scale::log(y.low, y.high)};
        }
    }
    return plot;
}

namespace {

/// The winner, and who ties with it, by rank.
std::vector<const Standing*> tied_of(const ProblemRanking& ranking) {
    std::vector<const Standing*> out;
    for (const Standing& standing : ranking.standings) {
        const Measurement& m = *standing.record->measurement;
        if ((m.tied || m.rank == 1) && !m.final_rounds_us.empty()) {
            out.push_back(&standing);
        }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Standing* a, const Standing* b) { return a->record->measurement->rank < b->record->measurement->rank; });
    return out;
}

Panel rounds_panel(const ProblemRanking& ranking, const std::vector<const Standing*>& tied) {
    Panel panel;
    panel.title = ranking.problem().key();
    panel.numbers.headings = {"rank", "candidate", ">median, µs", ">over the winner", ">95% interval", "rounds, µs"};
    Range y;
    std::size_t rounds = 0;
    for (std::size_t i = 0; i < tied.size(); ++i) {
        const Measurement& m = *tied[i]->record->measurement;
        PlotSeries series{
            fmt::format("{}: {}", m.rank, tied[i]->record->candidate.identity()), static_cast<int>(i) % 8, PlotSeries::Draw::line, {}};
        std::vector<std::string> all;
        for (std::size_t round = 0; round < m.final_rounds_us.size(); ++round) {
            series.marks.push_back({static_cast<double>(round + 1), m.final_rounds_us[round]});
            y.add(m.final_rounds_us[round]);
            all.push_back(fmt::format("{:.4g}", m.final_rounds_us[round]));
        }
        rounds = std::max(rounds, m.final_rounds_us.size());
        panel.numbers.lines.push_back({fmt::format("{}", m.rank), tied[i]->record->candidate.identity(),
                                       fmt::format("{:.4g}", median(m.final_rounds_us)), fmt::format("{:.4f}", tied[i]->ratio),
                                       tied[i]->low == tied[i]->high ? "-" : fmt::format("{:.4f} – {:.4f}", tied[i]->low, tied[i]->high),
                                       fmt::format("{}", fmt::join(all, ", "))});
        panel.series.push_back(std::move(series));
    }
    panel.x = {"round", Scale::linear(1, static_cast<double>(std::max<std::size_t>(rounds, 2)))};
    panel.y = {"median of a round, µs", Scale::linear(y.low, y.high)};
    return panel;
}

}  // namespace

Plot rounds_plot(const RunView& run) {
    Plot plot{
        "rounds",
        "Rounds of the tied",
        "The medians of the fresh rounds of the finals, in which the winner and those that cannot be told from it were measured beside "
        "each other. The axis of times does not begin at 0.",
        {}};
    for (const ProblemView& problem : run.problems) {
        const std::vector<const Standing*> tied = tied_of(*problem.ranking);
        if (!tied.empty()) {
            plot.panels.push_back(rounds_panel(*problem.ranking, tied));
        }
    }
    return plot;
}

namespace {

/// Trials by when they ended, in at most `most` lots: median of each, from the least to the greatest.
Panel over_time(const std::vector<const Record*>& trials, std::string title, std::string label,
                const std::function<double(const Measurement&)>& value) {
    constexpr std::size_t most = 100;
    Panel panel;
    panel.title = std::move(title);
    PlotSeries series{"trials", 0, PlotSeries::Draw::points, {}};
    Range y;
    const std::size_t lot = std::max<std::size_t>(1, (trials.size() + most - 1) / most);
    for (std::size_t from = 0; from < trials.size(); from += lot) {
        std::vector<double> values;
        for (std::size_t i = from; i < std::min(from + lot, trials.size()); ++i) {
            if (const double one = value(*trials[i]->measurement); one > 0) {
                values.push_back(one);
            }
        }
        if (!values.empty()) {
            const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
            series.marks.push_back({static_cast<double>(from + 1), median(values), *least, *greatest});
            y.add(*least);
            y.add(*greatest);
        }
    }
    if (!y.empty()) {
        panel.x = {"trial, in the order of measuring", Scale::linear(1, static_cast<double>(std::max<std::size_t>(trials.size(), 2)))};
        panel.y = {std::move(label), Scale::linear(y.low, y.high)};
        panel.series.push_back(std::move(series));
    }
    return panel;
}

}  // namespace

Plot machine_plot(const RunView& run) {
    std::vector<const Record*> trials;
    for (const Record& record : run.results.records) {
        if (record.measurement) {
            trials.push_back(&record);
        }
    }
    std::stable_sort(trials.begin(), trials.end(), [](const Record* a, const Record* b) { return a->timestamp < b->timestamp; });
    Plot plot{"machine",
              "The machine while it measured",
              "Each measured trial's own floor (an empty launch in its rounds) and clocks, where the device tells them; of many trials the "
              "median "
              "of so many in a row, with bars from the least to the greatest. The axes do not begin at 0.",
              {}};
    plot.panels.push_back(over_time(trials, "An empty launch", "floor, µs", [](const Measurement& m) { return m.floor_us; }));
    plot.panels.push_back(
        over_time(trials, "Clock of the compute units", "MHz", [](const Measurement& m) { return m.clock_mhz.value_or(0); }));
    plot.panels.push_back(
        over_time(trials, "Clock of the memory", "MHz", [](const Measurement& m) { return m.memory_clock_mhz.value_or(0); }));
    std::erase_if(plot.panels, [](const Panel& panel) { return panel.series.empty(); });
    return plot;
}

}  // namespace normtune
