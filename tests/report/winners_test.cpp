#include "report/winners.h"

#include <algorithm>
#include <span>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/audit.h"
#include "judge/thumb_rule.h"
#include "report/runs.h"
#include "space/heuristics.h"

namespace normtune {
namespace {

using testing::failed_record;
using testing::measured_record;
using testing::problem_of;

/// Two problems; the first has a tie, a slow trial and an incorrect one, the second was never ranked.
Results two_problems() {
    const Problem first = problem_of(4096, 4096);
    const Problem second = problem_of(8, 8);
    Results results;
    results.environment.device.compute_units = 100;
    results.records = {measured_record(first, 2, 12, 3),
                       measured_record(first, 1, 10, 1, true),
                       measured_record(first, 4, 10.1, 2, true),
                       measured_record(first, 8, 40, 0),
                       failed_record(first, 16, Outcome::incorrect, "y differs"),
                       measured_record(second, 1, 5, 0)};
    return results;
}

TEST(Winners, AProblemWhoseRanksBeginLaterHasOneToo) {
    Results results = two_problems();
    results.records[1].measurement->rank = 7;
    const std::vector<Winner> winners = find_winners(results);
    ASSERT_EQ(winners.size(), 1u);
    EXPECT_EQ(winners[0].record, &results.records[2]);
}

TEST(Winners, AreTheFirstOfTheirProblemAmongWhatPassed) {
    const Results results = two_problems();
    const std::vector<Winner> winners = find_winners(results);
    ASSERT_EQ(winners.size(), 1u);
    EXPECT_EQ(winners[0].record, &results.records[1]);
    EXPECT_EQ(winners[0].measured, 4u);
    EXPECT_EQ(winners[0].tied, 1);
    EXPECT_DOUBLE_EQ(winners[0].over_worst, 4);
}

TEST(Winners, AGainIsOverTheBestConfigurationThatObeysTheHeuristic) {
    const Results results = two_problems();
    const Winner winner = find_winners(results).front();
    ASSERT_EQ(winner.over_heuristics.size(), heuristics().size());
    for (std::size_t i = 0; i < heuristics().size(); ++i) {
        std::optional<double> best_us;
        for (std::size_t trial = 0; trial < 4; ++trial) {
            const Record& record = results.records[trial];
            if (heuristics()[i].chooses(*record.candidate.configuration(), record.problem, results.environment.device)) {
                best_us = std::min(best_us.value_or(1e9), record.measurement->p50_us);
            }
        }
        EXPECT_EQ(winner.over_heuristics[i].heuristic, heuristics()[i].name);
        EXPECT_EQ(winner.over_heuristics[i].ratio.has_value(), best_us.has_value());
        EXPECT_DOUBLE_EQ(winner.over_heuristics[i].ratio.value_or(0), best_us.value_or(0) / 10);
    }
    // 4096 rows of 4096 columns: one row a program is TransformerEngine's choice, and the winner's.
    EXPECT_EQ(winner.over_heuristics[0].ratio, 1.0);
}

TEST(Winners, AGainIsOverTheBestOfNormtunesOwnAsInAnAudit) {
    Results results = two_problems();
    const Winner before = find_winners(results).front();
    Record others = results.records[1];
    others.candidate = Candidate::named("mine", "fast");
    others.measurement->p50_us /= 2;
    others.measurement->rounds.clear();
    results.records[1].measurement->rank = 2;
    results.records.push_back(others);
    const Winner winner = find_winners(results).front();
    EXPECT_EQ(winner.record->candidate.provider(), "mine");
    const Audit audited = audit(std::span(&results, 1), named_thumb_rules(), {});
    for (std::size_t i = 0; i < winner.over_heuristics.size(); ++i) {
        EXPECT_EQ(winner.over_heuristics[i].ratio, before.over_heuristics[i].ratio);
        const Standing* const best = audited.problems.front().heuristics[i].best;
        ASSERT_EQ(winner.over_heuristics[i].ratio.has_value(), best != nullptr);
        EXPECT_DOUBLE_EQ(winner.over_heuristics[i].ratio.value_or(0), best != nullptr ? 1 + best->loss() : 0);
    }
}

TEST(Winners, FinalistsAreComparedByTheirFreshRounds) {
    Results results = two_problems();
    results.records[1].measurement->final_rounds_us = {20, 20, 21};  // the machine was slower by then, for both
    results.records[2].measurement->final_rounds_us = {24, 25, 24};
    results.records[3].measurement->p50_us = 11;
    const Winner winner = find_winners(results).front();
    EXPECT_DOUBLE_EQ(winner.over_worst, 1.2);
}

std::string text_of(const std::vector<Winner>& winners, std::size_t width = 0) {
    return sections_text({winners_section(winners)}, ReportFormat::table, {.width = width});
}

TEST(Winners, TakeSeveralShortLinesWhereTheTableIsTooWide) {
    const Results results = two_problems();
    const std::vector<Winner> winners = find_winners(results);
    const std::string wide = text_of(winners);
    const std::string narrow = text_of(winners, 80);
    for (const std::string& text : {wide, narrow}) {
        EXPECT_NE(text.find(results.records[1].candidate.key()), std::string::npos) << text;
        EXPECT_NE(text.find("4.00x"), std::string::npos) << text;
        EXPECT_EQ(text.find('\033'), std::string::npos) << text;
    }
    std::istringstream lines(narrow.substr(0, narrow.find("tied: ")));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 80u) << line;
    }
    EXPECT_LT(std::count(wide.begin(), wide.end(), '\n'), std::count(narrow.begin(), narrow.end(), '\n'));
}

TEST(Winners, BelowTenMicrosecondsTheLaunchFloorIsSaid) {
    Results results = two_problems();
    results.records[1].measurement->floor_us = 0.98;
    EXPECT_EQ(text_of(find_winners(results)).find("floor: "), std::string::npos) << "10 us are not short";
    results.records[5].measurement->rank = 1;
    EXPECT_EQ(text_of(find_winners(results)).find("floor: "), std::string::npos) << "its floor is not known";
    results.records[5].measurement->floor_us = 1.16;
    const std::string one = text_of(find_winners(results));
    EXPECT_TRUE(one.ends_with("floor: in the rounds of the winners below 10 us an empty launch took 1.16 us.\n")) << one;
    results.records[1].measurement->p50_us = 9;
    const std::string two = text_of(find_winners(results));
    EXPECT_TRUE(two.ends_with("an empty launch took 0.980 to 1.16 us.\n")) << two;
}

TEST(Winners, DependentLaunchesAreSaid) {
    Results results = two_problems();
    EXPECT_EQ(text_of(find_winners(results)).find("dependent"), std::string::npos);
    results.records[1].measurement->limit_copy = "v16.u1.t512.pieces.default.dependent";
    const std::string text = text_of(find_winners(results));
    EXPECT_NE(text.find("dependent: 1 of "), std::string::npos) << text;
    EXPECT_NE(text.find("not comparable with plain launches"), std::string::npos) << text;
}

TEST(Winners, WhyThereIsNoLimitIsSaid) {
    Results results = two_problems();
    results.records[5].measurement->rank = 1;
    EXPECT_EQ(text_of(find_winners(results)).find("no limit"), std::string::npos);
    results.records[1].measurement->limit_copy = "failed: out of memory";
    EXPECT_TRUE(
        text_of(find_winners(results))
            .ends_with("no limit: the copy of 1 problem could not be measured: " + results.records[1].problem.key() + ": out of memory\n"))
        << text_of(find_winners(results));
    results.records[5].measurement->limit_copy = "failed: out of memory";
    EXPECT_NE(text_of(find_winners(results)).find("the copy of 2 problems could not"), std::string::npos);
}

TEST(Winners, NoneIsSaid) {
    EXPECT_EQ(sections_text(winners_sections({}), ReportFormat::table, {}), "No winners: no configuration was measured.\n");
}

TEST(Winners, WithoutFinalsTheBestSoFarIsNamed) {
    Results results = two_problems();
    results.records[5] = measured_record(problem_of(8, 8), 2, 7, 0);
    results.records.push_back(measured_record(problem_of(8, 8), 1, 5, 0));
    const std::vector<Winner> leaders = find_leaders(results);
    ASSERT_EQ(leaders.size(), 1u);
    EXPECT_EQ(leaders[0].record, &results.records[6]);
    const std::vector<Section> sections = winners_sections(results);
    ASSERT_EQ(sections.size(), 2u);
    EXPECT_EQ(sections[1].title, "Best so far");
    EXPECT_EQ(sections[1].table.lines().at(1).at(1), results.records[6].candidate.key());
}

TEST(Winners, WhatWasUnderWayIsNamedWhereNothingIsComplete) {
    std::vector<Record> under_way{measured_record(problem_of(8, 8), 2, 7, 0), measured_record(problem_of(8, 8), 1, 5, 0)};
    under_way[1].measurement->limit_ratio = 0;
    const std::string text = sections_text(winners_sections(Results(), under_way), ReportFormat::table, {});
    EXPECT_NE(text.find("Best so far"), std::string::npos) << text;
    EXPECT_NE(text.find(under_way[1].candidate.key()), std::string::npos) << text;
    EXPECT_EQ(text.find(under_way[0].candidate.key()), std::string::npos) << text;
    EXPECT_NE(text.find("still being measured, after "), std::string::npos) << text;
    EXPECT_EQ(text.find("0.00x"), std::string::npos) << "the copy was not measured yet";

    const std::vector<Record> slower{measured_record(problem_of(8, 8), 4, 99, 0)};
    Results results;
    results.records.push_back(under_way[1]);
    const std::string recorded = sections_text(winners_sections(results, slower), ReportFormat::table, {});
    EXPECT_EQ(recorded.find("still being measured"), std::string::npos) << recorded;
}

TEST(Winners, JsonHasWhatTheTableHas) {
    const Results results = two_problems();
    const nlohmann::json parsed = nlohmann::json::parse(winners_json({&results, 1}));
    const nlohmann::json& winner = parsed.at("runs").at(0).at("winners").at(0);
    EXPECT_EQ(winner.at("configuration").at("key"), results.records[1].candidate.key());
    EXPECT_EQ(winner.at("p50_us"), 10.0);
    EXPECT_EQ(winner.at("tied"), 1);
    EXPECT_EQ(winner.at("measured"), 4);
    EXPECT_EQ(winner.at("over_worst"), 4.0);
}

}  // namespace
}  // namespace normtune
