#include "cli/run_report.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace normtune::cli {
namespace {

SweepResult result_of(const std::vector<std::pair<std::string, Outcome>>& trials) {
    SweepResult result;
    for (const auto& [candidate, outcome] : trials) {
        Record& record = result.results.records.emplace_back();
        record.candidate = Candidate::parse(candidate);
        record.outcome = outcome;
    }
    return result;
}

const std::string own = Configuration().key();

TEST(RunReport, AProviderOfWhichNothingPassedEndsInAFault) {
    EXPECT_EQ(exit_code_of(result_of({{own, Outcome::passed}, {"theirs:a", Outcome::passed}})), ExitCode::good);
    EXPECT_EQ(exit_code_of(result_of({{own, Outcome::passed}, {"theirs:a", Outcome::compile_failed}, {"theirs:b", Outcome::unsupported}})),
              ExitCode::faulty_trials);
    EXPECT_EQ(exit_code_of(result_of({{own, Outcome::unsupported}, {"theirs:a", Outcome::passed}})), ExitCode::faulty_trials);
    EXPECT_EQ(exit_code_of(result_of({{own, Outcome::passed}, {"theirs:a", Outcome::unsupported}})), ExitCode::faulty_trials);
    EXPECT_EQ(exit_code_of(result_of({{own, Outcome::passed}, {"theirs:a", Outcome::compile_failed}, {"theirs:b", Outcome::passed}})),
              ExitCode::good);
    EXPECT_EQ(exit_code_of(result_of({{own, Outcome::passed}, {"theirs:a", Outcome::pruned}})), ExitCode::good);
    EXPECT_EQ(exit_code_of(result_of({})), ExitCode::good);
    SweepResult interrupted = result_of({{"theirs:a", Outcome::compile_failed}});
    interrupted.interrupted = true;
    EXPECT_EQ(exit_code_of(interrupted), ExitCode::interrupted);
}

}  // namespace
}  // namespace normtune::cli
