#include "report/page/plot_svg.h"
#include "support/count.h"

#include <gtest/gtest.h>

#include <regex>

namespace normtune {
namespace {

using testing::count;

Panel panel_of(std::vector<Mark> marks) {
    Panel panel;
    panel.title = "N = 4096";
    panel.x = {"rows M", Scale::log(1, 100)};
    panel.y = {"GB/s", Scale::linear(0, 10)};
    panel.series = {{"normtune", 0, PlotSeries::Draw::line, std::move(marks)}};
    return panel;
}

std::string svg_of(const Panel& panel) {
    std::string out;
    TextSink sink([&](std::string_view text) { out += text; });
    write_panel(sink, panel, "what it is", 7);
    sink.flush();
    return out;
}

std::string svg_of(const Plot& plot) {
    std::string out;
    TextSink sink([&](std::string_view text) { out += text; });
    write_svg(sink, plot, "A device.");
    sink.flush();
    return out;
}

/// Centers of the circles, in the order of the marks.
std::vector<std::pair<double, double>> circles(const std::string& svg) {
    std::vector<std::pair<double, double>> out;
    const std::regex circle("<circle class=\"m c0\" cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
    for (std::sregex_iterator it(svg.begin(), svg.end(), circle), end; it != end; ++it) {
        out.emplace_back(std::stod((*it)[1]), std::stod((*it)[2]));
    }
    return out;
}

TEST(PlotSvg, MarksAreWhereTheirValuesAre) {
    const std::vector<std::pair<double, double>> at = circles(svg_of(panel_of({{1, 0}, {10, 5}, {100, 10}})));
    ASSERT_EQ(at.size(), 3U);
    EXPECT_NEAR(at[1].first, (at[0].first + at[2].first) / 2, 0.11);
    EXPECT_NEAR(at[1].second, (at[0].second + at[2].second) / 2, 0.11);
    EXPECT_GT(at[0].second, at[2].second);  // up is more
}

TEST(PlotSvg, ABandIsALineInTheAreaOfItsIntervals) {
    Panel panel = panel_of({{1, 5, 4, 6}, {10, 5, 4, 6}, {20, 5}, {50, 5, 4, 6}, {100, 5, 4, 6}});
    panel.series.front().draw = PlotSeries::Draw::band;
    const std::string svg = svg_of(panel);
    EXPECT_TRUE(circles(svg).empty());
    std::smatch area;
    ASSERT_TRUE(std::regex_search(svg, area, std::regex("<path class=\"f c0\" d=\"([^\"]*)\"")));
    EXPECT_EQ(count(area[1], "M"), 2U) << "a mark without an interval parts the area";
    EXPECT_EQ(count(area[1], "Z"), 2U);
    EXPECT_EQ(count(area[1], "L"), 6U);
    std::smatch line;
    ASSERT_TRUE(std::regex_search(svg, line, std::regex("<path class=\"n c0\" d=\"([^\"]*)\"")));
    EXPECT_EQ(count(line[1], "L"), 4U) << "and not the line";
}

TEST(PlotSvg, AMarkSaysItsValueAndInterval) {
    const std::string svg = svg_of(panel_of({{10, 5, 4.5, 5.5}}));
    EXPECT_NE(svg.find("<title>normtune, 10: 5.00 (4.50 – 5.50)</title>"), std::string::npos) << svg;
    EXPECT_EQ(count(svg, "class=\"i c0\""), 1U);
    EXPECT_NE(svg.find("aria-labelledby=\"t7 d7\""), std::string::npos);
    EXPECT_NE(svg.find("<desc id=\"d7\">what it is</desc>"), std::string::npos);
}

TEST(PlotSvg, RowsHaveTheirNamesAndAPlaceEach) {
    Panel panel;
    panel.x = {"loss", Scale::loss(1)};
    panel.rows = {"first", "second"};
    panel.series = {{"a", 0, PlotSeries::Draw::points, {{0, 0}, {0.5, 1}}}};
    const std::string svg = svg_of(panel);
    EXPECT_NE(svg.find(">first</text>"), std::string::npos);
    EXPECT_NE(svg.find(">second</text>"), std::string::npos);
    const auto at = circles(svg);
    ASSERT_EQ(at.size(), 2U);
    EXPECT_GT(at[1].second, at[0].second);
    EXPECT_GT(at[1].first, at[0].first);
}

TEST(PlotSvg, ForeignTextIsNoMarkup) {
    const std::string evil = "</title><script>alert(1)</script>\"&";
    Panel panel = panel_of({{1, 1}});
    panel.title = evil;
    panel.group = evil;
    panel.series[0].name = evil;
    panel.x.label = evil;
    EXPECT_EQ(svg_of(panel).find("<script"), std::string::npos);
    EXPECT_EQ(svg_of(Plot{"p", evil, evil, {panel}}).find("<script"), std::string::npos);
}

TEST(PlotSvg, AFileHoldsItsStylesAndEachSeriesOnceInItsLegend) {
    const std::string svg = svg_of(Plot{"p", "Title", "A caption of words.", {panel_of({{1, 1}}), panel_of({{2, 3}})}});
    EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0U);
    EXPECT_EQ(count(svg, "<style>"), 1U);
    EXPECT_EQ(count(svg, ">normtune</text>"), 1U);
    EXPECT_EQ(count(svg, ">N = 4096</text>"), 2U);
    EXPECT_NE(svg.find(">A device. A caption of words.</text>"), std::string::npos);
}

TEST(PlotSvg, LegendNamesEverySeriesOnce) {
    Panel other = panel_of({{1, 1}});
    other.series.push_back({"copy", 6, PlotSeries::Draw::dashed, {{1, 2}}});
    const std::vector<PlotSeries> legend = legend_of(Plot{"", "", "", {panel_of({{1, 1}}), other}});
    ASSERT_EQ(legend.size(), 2U);
    EXPECT_EQ(legend[1].name, "copy");
}

}  // namespace
}  // namespace normtune
