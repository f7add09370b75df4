#include "report/side_by_side_report.h"

#include <gtest/gtest.h>

#include "report/runs.h"

namespace normtune {
namespace {

using ::normtune::testing::measured_record;
using ::normtune::testing::problem_of;

TEST(SideBySideReport, AColumnAContestantAndADashWhereItHasNoTime) {
    Results results;
    results.records = {measured_record(problem_of(8, 128), 1, 10, 0), measured_record(problem_of(8, 128), 1, 15, 0),
                       measured_record(problem_of(8, 128), 1, 4, 0), measured_record(problem_of(16, 128), 1, 1623.6, 0)};
    results.records[1].candidate = Candidate::named("liger", "norm");
    results.records[2].candidate = Candidate::named("flashinfer", "norm.pdl");
    results.records[2].measurement->limit_copy = "v16.dependent";
    results.records[3].measurement->limit_ratio = 0;  // no copy could be measured
    const std::vector<SideBySide> problems = side_by_side({&results, 1});
    const std::vector<Section> sections = side_by_side_sections(problems);
    ASSERT_EQ(sections.size(), 1u) << "no mean of one problem";
    EXPECT_EQ(sections[0].table.csv(),
              "problem,normtune us,limit,\"flashinfer, dependent\",liger,fastest other\r\n"
              "rms_norm/forward/bf16/llama/8x128,10.00,1.10x,4.000,15.00,1.500x\r\n"
              "rms_norm/forward/bf16/llama/16x128,1624,-,-,-,-\r\n");
    EXPECT_NE(sections[0].note.find("dependent: "), std::string::npos);
}

TEST(SideBySideReport, MeansAreOfOperationsWithSeveralProblems) {
    Results results;
    for (const std::int64_t rows : {8, 16}) {
        results.records.push_back(measured_record(problem_of(rows, 128), 1, 10, 0));
        results.records.push_back(measured_record(problem_of(rows, 128), 1, 15, 0));
        results.records.back().candidate = Candidate::named("liger", "norm");
    }
    const std::vector<SideBySide> problems = side_by_side({&results, 1});
    const std::vector<Section> sections = side_by_side_sections(problems);
    ASSERT_EQ(sections.size(), 2u);
    EXPECT_EQ(sections[1].table.csv(),
              "operation,problems,geometric mean,least,limit at most\r\nrms_norm/forward/bf16/llama,2,1.500x,1.500x,1.10x\r\n");
}

TEST(SideBySideReport, ShortTimesStandBesideTheFloor) {
    Results results;
    results.records = {measured_record(problem_of(8, 128), 1, 2.5, 0), measured_record(problem_of(16, 128), 1, 10, 0)};
    results.records[0].measurement->floor_us = 0.817;
    results.records[1].measurement->floor_us = 0.9;
    const std::vector<SideBySide> problems = side_by_side({&results, 1});
    const std::vector<Section> sections = side_by_side_sections(problems);
    EXPECT_EQ(sections[0].table.csv(),
              "problem,normtune us,limit,floor,fastest other\r\nrms_norm/forward/bf16/llama/8x128,2.500,1.10x,0.82,-\r\n"
              "rms_norm/forward/bf16/llama/16x128,10.00,1.10x,,-\r\n");
    EXPECT_NE(sections[0].note.find("floor: what an empty launch took"), std::string::npos);
}

TEST(SideBySideReport, OfNothingThereIsASentence) {
    const std::vector<Section> sections = side_by_side_sections({});
    ASSERT_EQ(sections.size(), 1u);
    EXPECT_TRUE(sections[0].table.empty());
    EXPECT_EQ(sections[0].note, "No candidate was measured.\n");
}

TEST(SideBySideReport, WithoutAnotherProviderThereAreNoMeans) {
    Results results;
    results.records = {measured_record(problem_of(8, 128), 1, 10, 0)};
    const std::vector<SideBySide> problems = side_by_side({&results, 1});
    const std::vector<Section> sections = side_by_side_sections(problems);
    ASSERT_EQ(sections.size(), 1u);
    EXPECT_EQ(sections[0].note.find("dependent: "), std::string::npos);
}

}  // namespace
}  // namespace normtune
