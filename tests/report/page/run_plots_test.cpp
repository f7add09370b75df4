#include "report/page/run_plots.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/runs.h"

namespace normtune {
namespace {

using testing::measured_record;
using testing::problem_of;

Record timed(const Problem& problem, int rows_per_program, double p50_us, int rank) {
    Record record = measured_record(problem, rows_per_program, p50_us, rank);
    Measurement& m = *record.measurement;
    m.p20_us = p50_us * 0.9;
    m.p80_us = p50_us * 1.2;
    m.limit_us = 8;
    m.limit_ratio = p50_us / m.limit_us;
    m.floor_us = 1;
    m.final_rounds_us = {p50_us, p50_us * 1.01, p50_us * 0.99};
    return record;
}

/// Of 64 and 128 rows of 1024 columns, and 64 of 2048; two rows a program are slower throughout.
Results three_problems() {
    Results results;
    for (const Problem& problem : {problem_of(64, 1024), problem_of(128, 1024), problem_of(64, 2048)}) {
        results.records.push_back(timed(problem, 1, 10, 1));
        results.records.push_back(timed(problem, 2, 12, 2));
    }
    results.records[1].measurement->tied = true;
    return results;
}

const PlotSeries* series_of(const Panel& panel, const std::string& name) {
    const auto found =
        std::find_if(panel.series.begin(), panel.series.end(), [&](const PlotSeries& series) { return series.name == name; });
    return found == panel.series.end() ? nullptr : &*found;
}

TEST(RunPlots, LimitHasEachProblemOnceWithItsQuantiles) {
    const Results results = three_problems();
    const Plot plot = limit_plot(RunView(results));
    ASSERT_EQ(plot.panels.size(), 1U);
    const Panel& panel = plot.panels[0];
    EXPECT_EQ(panel.rows, (std::vector<std::string>{"64×1024", "128×1024", "64×2048"}));
    const PlotSeries* own = series_of(panel, "normtune");
    ASSERT_NE(own, nullptr);
    ASSERT_EQ(own->marks.size(), 3U);
    EXPECT_DOUBLE_EQ(own->marks[0].x, 1.25);
    EXPECT_DOUBLE_EQ(own->marks[0].low, 9.0 / 8);
    EXPECT_DOUBLE_EQ(own->marks[0].high, 12.0 / 8);
    EXPECT_EQ(panel.x_line, 1);
}

TEST(RunPlots, ThroughputHasAPanelWhereSeveralSizesWereMeasured) {
    const Results results = three_problems();
    const RunView view(results);
    const Plot rows = throughput_plot(view, true);
    ASSERT_EQ(rows.panels.size(), 1U);  // 2048 columns have one number of rows alone
    EXPECT_EQ(rows.panels[0].title, "N = 1024");
    const PlotSeries* own = series_of(rows.panels[0], "normtune");
    ASSERT_NE(own, nullptr);
    ASSERT_EQ(own->marks.size(), 2U);
    EXPECT_DOUBLE_EQ(own->marks[1].x, 128);
    EXPECT_DOUBLE_EQ(own->marks[1].y, 100);
    EXPECT_DOUBLE_EQ(own->marks[1].low, 100 / 1.2);
    const PlotSeries* copy = series_of(rows.panels[0], "copy");
    ASSERT_NE(copy, nullptr);
    EXPECT_DOUBLE_EQ(copy->marks[0].y, 125);
    const Plot cols = throughput_plot(view, false);
    ASSERT_EQ(cols.panels.size(), 1U);
    EXPECT_EQ(cols.panels[0].title, "M = 64");
}

TEST(RunPlots, AxesShowWhatTheirValuesLose) {
    const Results results = three_problems();
    const Plot plot = axes_plot(RunView(results));
    ASSERT_EQ(plot.panels.size(), 1U);  // one axis has two values
    const Panel& panel = plot.panels[0];
    EXPECT_EQ(panel.title, "rows_per_program");
    EXPECT_EQ(panel.rows, (std::vector<std::string>{"1", "2"}));
    EXPECT_NEAR(panel.series[0].marks[1].x, 0.2, 1e-9);
    EXPECT_EQ(panel.series[1].marks.size(), 6U);
    EXPECT_EQ(panel.numbers.headings, (std::vector<std::string>{"problem", ">1", ">2"}));
    EXPECT_EQ(panel.numbers.lines.back()[2], "20.0%");
}

TEST(RunPlots, NumbersOfManyProblemsAreQuantilesAndSaySo) {
    Results results;
    for (int i = 1; i <= 301; ++i) {
        results.records.push_back(measured_record(problem_of(i, 1024), 1, 10, 1));
        results.records.push_back(measured_record(problem_of(i, 1024), 2, 12, 2));
    }
    const Plot plot = axes_plot(RunView(results));
    ASSERT_EQ(plot.panels.size(), 1U);
    const Numbers& numbers = plot.panels[0].numbers;
    EXPECT_EQ(numbers.lines.size(), 7U);
    EXPECT_EQ(numbers.lines.back(), (std::vector<std::string>{"(301 problems are too many to be listed here)", "", ""}));
}

TEST(RunPlots, RoundsAreThoseOfTheWinnerAndOfTheTied) {
    const Results results = three_problems();
    const Plot plot = rounds_plot(RunView(results));
    ASSERT_EQ(plot.panels.size(), 3U);
    ASSERT_EQ(plot.panels[0].series.size(), 2U);
    EXPECT_EQ(plot.panels[1].series.size(), 1U);
    EXPECT_DOUBLE_EQ(plot.panels[0].series[1].marks[2].y, 12 * 0.99);
}

TEST(RunPlots, TheMachineIsShownInTheOrderOfMeasuring) {
    Results results = three_problems();
    results.records[0].timestamp = "2026-11-20T00:00:09Z";
    results.records[0].measurement->floor_us = 2;
    for (std::size_t i = 1; i < results.records.size(); ++i) {
        results.records[i].timestamp = "2026-11-20T00:00:01Z";
    }
    const Plot plot = machine_plot(RunView(results));
    ASSERT_EQ(plot.panels.size(), 1U);  // no clock is told
    EXPECT_EQ(plot.panels[0].series[0].marks.back().y, 2);
}

TEST(RunPlots, OfNothingHaveNoPanels) {
    const Results results;
    const RunView view(results);
    EXPECT_TRUE(limit_plot(view).panels.empty());
    EXPECT_TRUE(throughput_plot(view, true).panels.empty());
    EXPECT_TRUE(axes_plot(view).panels.empty());
    EXPECT_TRUE(rules_plot(view).panels.empty());
    EXPECT_TRUE(rounds_plot(view).panels.empty());
    EXPECT_TRUE(machine_plot(view).panels.empty());
}

}  // namespace
}  // namespace normtune
