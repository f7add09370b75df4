#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include <fmt/format.h>

#include "report/page/pages.h"
#include "support/count.h"

namespace normtune {
namespace {

using testing::count;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// 40 nights about 10 µs; from the 26th on 5% slower by other code. Neither copy nor floor is known.
History history_of(const std::string& problem, std::size_t series = 1) {
    History out;
    out.codes = {"", "old", "new"};
    for (std::uint32_t i = 0; i < 40; ++i) {
        HistoryRun run;
        run.started = fmt::format("2026-{:02}-{:02}T02:30:00Z", 9 + i / 30, i % 30 + 1);
        run.device = "a GPU";
        run.device_id = "GPU-1";
        run.revision = problem;
        out.runs.push_back(run);
    }
    for (std::size_t number = 0; number < series; ++number) {
        HistorySeries one;
        one.trial.problem = series == 1 ? problem : fmt::format("{} {}", problem, number);
        one.device = "a GPU";
        for (std::uint32_t i = 0; i < 40; ++i) {
            const bool slow = number == 0 && i >= 25;
            const double p50 = (10 + 0.001 * ((i * 7) % 5)) * (slow ? 1.05 : 1);
            one.nights.push_back({i, slow ? 2U : 1U, {p50 - 0.02, p50, p50 + 0.02, unknown, unknown, unknown, unknown, 0}});
        }
        out.series.push_back(one);
    }
    return out;
}

std::string page_of(const History& history) {
    Policy policy;
    policy.name = "default";
    const Trend trend = find_trend(history, policy, "2026-11-22");
    std::string out;
    TextSink sink([&](std::string_view text) { out += text; });
    write_trend_page(sink, history, trend);
    sink.flush();
    return out;
}

TEST(TrendPage, NightsAreDrawnWithTheirValues) {
    const History history = history_of("rms_norm/x");
    const std::string page = page_of(history);
    const std::regex mark("cx=\"([0-9.]+)\" cy=\"([0-9.]+)\" r=\"3.6\"><title>p50, ([^:]+:30:00Z): ([0-9.]+) \\(([0-9.]+) – ([0-9.]+)\\)");
    std::size_t night = 0;
    double first = 0;
    for (std::sregex_iterator it(page.begin(), page.end(), mark), end; it != end; ++it, ++night) {
        const HistoryTimes& times = history.series[0].nights.at(night).times;
        EXPECT_EQ((*it)[3], history.runs[night].started);
        EXPECT_NEAR(std::stod((*it)[4]), times.p50_us, 1e-4);
        EXPECT_NEAR(std::stod((*it)[5]), times.p20_us, 1e-4);
        EXPECT_NEAR(std::stod((*it)[6]), times.p80_us, 1e-4);
        first = night == 0 ? std::stod((*it)[2]) : first;
        EXPECT_EQ(night >= 25, std::stod((*it)[2]) < first - 20) << "slower is higher";
    }
    EXPECT_EQ(night, 40U);
    EXPECT_NE(page.find("<th scope=\"row\">2026-09-26T02:30:00Z</th><td class=\"n\">10.48</td><td class=\"n\">10.5</td>"
                        "<td class=\"n\">10.52</td><td class=\"n\">10.5021</td><td>code: +"),
              std::string::npos);
}

TEST(TrendPage, AChangeIsMarkedBetweenTheNightsAndListed) {
    const std::string page = page_of(history_of("rms_norm/x"));
    EXPECT_NE(page.find("fail: trend by policy default: 1 series, 1 change, 1 regression"), std::string::npos);
    EXPECT_EQ(count(page, "<title>code: +"), 1U);        // the line
    EXPECT_EQ(count(page, "\">code: +"), 1U);            // its label
    EXPECT_EQ(count(page, "<path class=\"d c1\""), 3U);  // two levels, and the legend's
    EXPECT_NE(page.find("<tr><th scope=\"row\">2026-09-26</th><td class=\"n\">+5.0"), std::string::npos);
    EXPECT_EQ(count(page, "data-panel="), 1U);  // neither copy nor floor are known
}

TEST(TrendPage, ForeignTextIsNoMarkup) {
    const std::string page = page_of(history_of("</title><script>alert(1)</script><img src=x>'\"&"));
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    EXPECT_EQ(page.find("<img"), std::string::npos);
    EXPECT_NE(page.find("&lt;img src=x&gt;"), std::string::npos);
}

TEST(TrendPage, ALongKeyBreaksBehindPointsAndSlashes) {
    const std::string page = page_of(history_of("rms_norm/forward/bf16/llama/8192x4096"));
    EXPECT_NE(page.find("<h3>rms_norm/<wbr>forward/<wbr>bf16/<wbr>llama/<wbr>8192x4096"), std::string::npos);
    EXPECT_NE(page.find("fail: trend by policy default: "), std::string::npos) << "short words stay whole";
}

TEST(TrendPage, OfManySeriesThoseThatChangedAreDrawn) {
    History history = history_of("p", 45);
    std::swap(history.series.front(), history.series.back());
    const std::string page = page_of(history);
    EXPECT_EQ(count(page, "data-panel="), 40U);
    EXPECT_NE(page.find("40 of 45 series are drawn"), std::string::npos);
    EXPECT_EQ(page.find("data-panel=\"p 0: p50\""), page.find("data-panel="));
}

}  // namespace
}  // namespace normtune
