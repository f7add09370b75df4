#include "report/outcomes.h"

#include <gtest/gtest.h>

#include "report/runs.h"

namespace normtune {
namespace {

using testing::failed_record;
using testing::measured_record;
using testing::problem_of;

TEST(Outcomes, AreCountedByProblemInTheOrderOfTheRecords) {
    Results results;
    results.records = {measured_record(problem_of(9, 9), 1, 10, 1), measured_record(problem_of(8, 8), 1, 10, 1),
                       failed_record(problem_of(9, 9), 2, Outcome::crashed, "SIGSEGV")};
    EXPECT_EQ(outcomes_section(results).table.text({}),
              "problem                          trials  passed  others\n"
              "rms_norm/forward/bf16/llama/9x9       2       1  1 crashed\n"
              "rms_norm/forward/bf16/llama/8x8       1       1\n");
}

TEST(Outcomes, NameTheFaultyTrialsWithReasonAndRepeat) {
    Results results;
    results.records = {measured_record(problem_of(8, 8), 1, 10, 1), failed_record(problem_of(8, 8), 2, Outcome::incorrect, "y differs")};
    const std::string text = outcomes_text(results);
    EXPECT_EQ(text.substr(0, text.find('\n')), "2 trials: 1 passed, 1 incorrect.");
    EXPECT_NE(text.find("y differs"), std::string::npos);
    EXPECT_NE(text.find("repeat: normtune sweep --problem"), std::string::npos);
}

TEST(Outcomes, ManyFaultsAreCutShortAndCounted) {
    Results results;
    for (int i = 1; i <= 25; ++i) {
        results.records.push_back(failed_record(problem_of(8, 8), i, Outcome::timed_out, "slow"));
    }
    const std::string text = outcomes_text(results);
    EXPECT_NE(text.find("and 15 more"), std::string::npos) << text;
}

TEST(Outcomes, AProblemOfWhichNothingWasKeptSaysWhatTookTheRest) {
    Results results;
    results.plans.push_back({"rms_norm/forward/bf16/llama/1x64", 3, 3, {}, {}});
    results.plans.push_back({"rms_norm/backward/bf16/llama/1x64", 9, 0, {{"cpu.dgamma", "not on a CPU", 7}, {"mine", "cols > 64", 2}}, {}});
    results.plans.push_back({"rms_norm/backward/bf16/llama/2x64", 9, 0, {{"store", "from the store", 9}}, {}});
    EXPECT_EQ(outcomes_text(results),
              "0 trials: 0 passed.\n"
              "  nothing of rms_norm/backward/bf16/llama/1x64 was measured: mine took the last 2 of 9 (cols > 64)\n");
}

TEST(Outcomes, WhereAnOptionTookTheRestItIsTheReason) {
    Results results;
    results.plans.push_back(
        {"rms_norm/backward/bf16/llama/1x64", 9, 0, {{"cpu.dgamma", "not on a CPU", 7}, {"deterministic", "--deterministic", 2}}, {}});
    EXPECT_EQ(outcomes_text(results),
              "0 trials: 0 passed.\n"
              "  nothing of rms_norm/backward/bf16/llama/1x64 was measured: deterministic took the last 2 of 9 (--deterministic)\n");
}

TEST(Outcomes, WhatTheBudgetAndAnInterruptLeftUndoneIsSaid) {
    Results results;
    results.plans.push_back(
        {"rms_norm/forward/bf16/llama/1x64", 9'000'000'000, 0, {{"cpu.grid", "no", 8'999'999'000}, {"budget", "", 1000}}, {}});
    results.plans.push_back({"rms_norm/forward/bf16/llama/2x64", 9, 4, {{"budget", "", 200}}, {}});
    results.plans.push_back({"rms_norm/forward/bf16/llama/3x64", 9, 4, {{"interrupted", "", 1}}, {}});
    results.plans.push_back({"rms_norm/forward/bf16/llama/4x64", 9, 0, {{"interrupted", "", 9}}, {}});
    EXPECT_EQ(outcomes_text(results),
              "0 trials: 0 passed.\n"
              "The budget, or a problem's share of it, ran out: 1,200 trials of 2 problems were not run.\n"
              "  nothing of rms_norm/forward/bf16/llama/1x64 was measured\n"
              "The sweep was interrupted: 10 trials of 2 problems were not run.\n"
              "  no trial of rms_norm/forward/bf16/llama/4x64 was complete\n");
}

TEST(Outcomes, TrialsOfFewerProcessesThanOthersAreSaid) {
    Results results;
    results.records = {measured_record(problem_of(8, 8), 1, 10, 1), measured_record(problem_of(8, 8), 2, 11, 2),
                       measured_record(problem_of(8, 8), 4, 30, 0)};
    results.records[2].measurement->stop_reason = StopReason::dropped;
    EXPECT_EQ(outcomes_text(results), "3 trials: 3 passed.\n");
    results.records[0].measurement->repetitions.resize(2);
    EXPECT_EQ(outcomes_text(results),
              "3 trials: 3 passed.\n"
              "Trials that may win were measured in 1 to 3 processes: those in fewer were interrupted, or are of another sweep.\n");
    results.records[1].measurement->repetitions.resize(2);
    EXPECT_EQ(outcomes_text(results), "3 trials: 3 passed.\n");
}

TEST(Outcomes, UnsupportedIsNoFault) {
    Results results;
    results.records = {failed_record(problem_of(8, 8), 2, Outcome::unsupported, "no such vector"),
                       measured_record(problem_of(8, 8), 1, 10, 1)};
    EXPECT_EQ(outcomes_text(results), "2 trials: 1 passed, 1 unsupported.\n");
}

TEST(Outcomes, WhereNothingIsSupportedTheReasonOfMostIsSaid) {
    Results results;
    results.records = {failed_record(problem_of(8, 8), 1, Outcome::unsupported, "no such vector"),
                       failed_record(problem_of(8, 8), 2, Outcome::unsupported, "not recorded"),
                       failed_record(problem_of(8, 8), 4, Outcome::unsupported, "not recorded"),
                       failed_record(problem_of(8, 8), 8, Outcome::pruned, "rule mine: 0")};
    EXPECT_EQ(outcomes_text(results), "4 trials: 0 passed, 1 pruned, 3 unsupported.\n  2 are unsupported: not recorded\n");
    results.records.resize(1);
    EXPECT_EQ(outcomes_text(results), "1 trial: 0 passed, 1 unsupported.\n  1 is unsupported: no such vector\n");
    results.records.push_back(measured_record(problem_of(8, 8), 2, 10, 1));
    results.records.back().candidate = Candidate::named("mine", "fast");
    EXPECT_EQ(outcomes_text(results), "2 trials: 1 passed, 1 unsupported.\n  1 is unsupported: no such vector\n")
        << "another provider's kernel passed";
}

TEST(Outcomes, WhatAnInterruptBehindTheLastTrialLeftIsSaid) {
    Results results;
    results.plans.push_back({"rms_norm/forward/bf16/llama/1x64", 9, 9, {}, {}});
    results.plans.push_back({"rms_norm/forward/bf16/llama/2x64", 9, 9, {{"interrupted", "the finals were not held", 0}}, {}});
    EXPECT_EQ(outcomes_text(results),
              "0 trials: 0 passed.\n"
              "The sweep was interrupted before 1 problem was finished:\n"
              "  rms_norm/forward/bf16/llama/2x64: the finals were not held\n");
}

TEST(Outcomes, WhyAnotherProvidersKernelIsUnsupportedIsSaid) {
    Results results;
    results.records = {failed_record(problem_of(8, 8), 2, Outcome::unsupported, "no bf16 there")};
    results.records[0].candidate = Candidate::named("mine", "fast");
    EXPECT_NE(outcomes_text(results).find("8x8 mine:fast: no bf16 there\n"), std::string::npos) << outcomes_text(results);
}

}  // namespace
}  // namespace normtune
