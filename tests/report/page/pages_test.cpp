#include "report/page/pages.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/page/data_table.h"
#include "report/runs.h"
#include "store/result_rows.h"

namespace normtune {
namespace {

using nlohmann::json;
using testing::failed_record;
using testing::measured_record;
using testing::problem_of;

const std::string hostile_name = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\xE2\x80\xA8'\"&";

template <typename Write>
std::string text_of(const Write& write) {
    std::string out;
    TextSink sink([&](std::string_view text) { out += text; });
    write(sink);
    sink.flush();
    return out;
}

Results run_with(const std::string& text) {
    Results results;
    results.environment.device.name = text;
    results.environment.hostname = text;
    results.command = {"normtune", text};
    results.records = {measured_record(problem_of(64, 1024), 1, 11.4205375, 1), measured_record(problem_of(64, 1024), 2, 12, 2),
                       failed_record(problem_of(64, 1024), 4, Outcome::incorrect, text)};
    results.records[0].repeat =
        "normtune sweep --problem " + problem_of(64, 1024).key() + " --config " + results.records[0].candidate.identity() + " --seed 0";
    for (Record& record : results.records) {
        keep_for_page(record);
    }
    return results;
}

json data_of(const std::string& page) {
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const std::size_t at = page.find(begin) + begin.size();
    return json::parse(page.substr(at, page.find("</script>", at) - at));
}

TEST(Pages, DataIsThatOfTheRecords) {
    const Results results = run_with("plain");
    const json data = data_of(text_of([&](TextSink& out) { write_run_page(out, RunView(results), "file"); }));
    ASSERT_EQ(data.at("rows").size(), 3U);
    const auto value = [&](std::size_t row, const std::string& id) {
        for (std::size_t i = 0; i < data.at("columns").size(); ++i) {
            const json& column = data["columns"][i];
            if (column.at("id") == id) {
                const json& cell = data["rows"][row][i];
                return column.contains("names") ? column["names"][cell.get<std::size_t>()] : cell;
            }
        }
        return json("no such column");
    };
    EXPECT_EQ(value(0, "p50_us"), 11.4205);
    EXPECT_EQ(value(0, "problem"), problem_of(64, 1024).key());
    EXPECT_EQ(value(0, "repeat"), "normtune sweep --problem \1 --config \2 --seed 0");
    EXPECT_EQ(value(1, "over_best"), 1.05074);
    EXPECT_EQ(value(2, "outcome"), "incorrect");
    EXPECT_TRUE(value(2, "p50_us").is_null());
    EXPECT_EQ(value(2, "reason"), "plain");
}

TEST(Pages, ForeignTextIsNoMarkup) {
    const Results results = run_with(hostile_name);
    const std::string page = text_of([&](TextSink& out) { write_run_page(out, RunView(results), hostile_name); });
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    EXPECT_EQ(page.find("<img"), std::string::npos);
    EXPECT_EQ(page.find("\xE2\x80\xA8"), std::string::npos);
    const json data = data_of(page);
    EXPECT_NE(data.dump().find("alert(1)"), std::string::npos);  // it is there, as text
}

TEST(Pages, NothingComesFromElsewhere) {
    const Results results = run_with("plain");
    const std::string page = text_of([&](TextSink& out) { write_run_page(out, RunView(results), "file"); });
    EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
    for (const char* elsewhere : {"http://", "https://", "src=", "@import", "url(", "unsafe-inline", " style=\"", " onclick"}) {
        EXPECT_EQ(page.find(elsewhere), std::string::npos) << elsewhere;
    }
}

TEST(Pages, ARunWithoutTimesHasAPage) {
    Results results;
    results.records = {failed_record(problem_of(64, 1024), 4, Outcome::crashed, "SIGSEGV")};
    const std::string page = text_of([&](TextSink& out) { write_run_page(out, RunView(results), "file"); });
    EXPECT_NE(page.find("Nothing was measured"), std::string::npos);
    EXPECT_NE(page.find("1 crashed"), std::string::npos);
}

TEST(Pages, WhatAnInterruptLeftIsSaid) {
    Results results = run_with("plain");
    const auto page = [&] {
        std::string text = text_of([&](TextSink& out) { write_run_page(out, RunView(results), "file"); });
        const std::string may_break = "<wbr>";
        for (std::size_t at = text.find(may_break); at != std::string::npos; at = text.find(may_break, at)) {
            text.erase(at, may_break.size());
        }
        return text;
    };
    EXPECT_EQ(page().find("interrupted"), std::string::npos);
    results.records[0].measurement->repetitions.resize(2);
    EXPECT_NE(
        page().find(">Trials that may win were measured in 1 to 3 processes: those in fewer were interrupted, or are of another sweep.<"),
        std::string::npos);
    for (int i = 1; i <= 12; ++i) {
        results.plans.push_back({problem_of(i, 1024).key(), 9, 9, {{"interrupted", "fewer than 3 processes measured it", 0}}, {}});
    }
    const std::string many = page();
    EXPECT_NE(many.find(">The sweep was interrupted before 12 problems were finished: rms_norm/forward/bf16/llama/1x1024: fewer than 3 "
                        "processes measured it; "),
              std::string::npos);
    EXPECT_NE(many.find("/10x1024: fewer than 3 processes measured it; 2 more.<"), std::string::npos);
    EXPECT_EQ(many.find("trials were not run"), std::string::npos);
}

TEST(Pages, AComparisonHasItsPairsAndIntervals) {
    Results before = run_with("plain");
    Results after = before;
    before.records.pop_back();
    after.records.pop_back();
    for (Results* side : {&before, &after}) {
        for (Record& record : side->records) {
            Measurement& m = *record.measurement;
            m.rounds.assign(8, {m.p50_us, 5});
            m.p20_us = m.p50_us * 0.999;
            m.p80_us = m.p50_us * 1.001;
        }
    }
    Measurement& slower = *after.records[1].measurement;
    slower.p50_us *= 1.5;
    slower.p20_us *= 1.5;
    slower.p80_us *= 1.5;
    slower.rounds.assign(8, {slower.p50_us, 5});
    const ResultRows left = rows_of(before, "before<b>");
    const ResultRows right = rows_of(after, "after");
    const Comparison comparison = compare(left, right, {});
    ASSERT_EQ(comparison.not_comparable, "");
    const std::string page = text_of([&](TextSink& out) { write_comparison_page(out, comparison, summarise(comparison)); });
    EXPECT_EQ(page.find("<b>"), std::string::npos);
    const json data = data_of(page);
    ASSERT_EQ(data.at("rows").size(), 2U);
    EXPECT_NEAR(data["rows"][1][4].get<double>(), (comparison.pairs[1].ratio - 1) * 100, 1e-3);
    EXPECT_NEAR(data["rows"][1][5].get<double>(), (comparison.pairs[1].low - 1) * 100, 1e-3);
    const Plot plot = comparison_plot(comparison, "changes");
    ASSERT_EQ(plot.panels.size(), 1U);
    std::size_t marks = 0;
    for (const PlotSeries& series : plot.panels[0].series) {
        marks += series.marks.size();
    }
    EXPECT_EQ(marks, 2U);
    EXPECT_DOUBLE_EQ(plot.panels[0].series[0].marks[0].y, comparison.pairs[1].ratio);  // the slower one comes first
}

TEST(DataTable, NumbersHaveSixDigits) {
    EXPECT_EQ(data_number(1234567.0), 1234570.0);
    EXPECT_EQ(data_number(0.1).dump(), "0.1");
    EXPECT_TRUE(data_number(std::numeric_limits<double>::quiet_NaN()).is_null());
}

}  // namespace
}  // namespace normtune
