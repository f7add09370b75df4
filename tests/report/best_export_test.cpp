#include "report/export/best_export.h"

#include <gtest/gtest.h>

#include "report/runs.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::measured_record;
using testing::problem_of;

Results run_of(const std::string& started, int rows_per_program) {
    Results results;
    results.environment.device.name = "Made GPU";
    results.environment.device.backend = Backend::cuda;
    results.environment.started = started;
    results.records = {measured_record(problem_of(8, 128), rows_per_program, 10, 1)};
    return results;
}

TEST(BestExport, TheRunThatStartedLastHolds) {
    const std::vector<Results> runs{run_of("2026-11-20T10:00:00Z", 4), run_of("2026-11-20T09:00:00Z", 2)};
    const ExportedWinners exported = exported_winners(runs);
    ASSERT_EQ(exported.winners.size(), 1u);
    EXPECT_EQ(exported.winners[0]->candidate.configuration()->rows_per_program, 4);
}

TEST(BestExport, TheCodeSaysWhichDeviceItsNumbersAreFrom) {
    Results results = run_of("", 1);
    results.environment.device.name = "Made \"GPU\"\n##[error]";
    results.environment.device.arch = "sm_90";
    ExportedWinners exported = exported_winners({&results, 1});
    exported.remarks = {"Nobody measured \"\"\" sm_120.", "Risk: not known."};
    const std::string cpp = winners_cpp(exported);
    const std::string python = winners_triton(exported);
    EXPECT_NE(cpp.find("measured_on = \"Made ?GPU??x0a?#[error]\";"), std::string::npos) << cpp;
    EXPECT_NE(cpp.find("measured_arch = \"sm_90\";"), std::string::npos);
    EXPECT_NE(cpp.find("// Nobody measured ??? sm_120.\n// Risk: not known.\n"), std::string::npos);
    EXPECT_NE(python.find("MEASURED_ON = \"Made ?GPU??x0a?#[error]\""), std::string::npos) << python;
    EXPECT_NE(python.find("Nobody measured ??? sm_120.\nRisk: not known.\n"), std::string::npos);
}

TEST(BestExport, WhatTheArgumentsDoNotNameIsLeftOutByName) {
    Results results = run_of("", 1);
    Problem bare = problem_of(8, 512);
    bare.operation.affine = false;
    Problem fp32_weights = problem_of(8, 512);
    fp32_weights.operation.weight_dtype = Dtype::fp32;
    results.records.push_back(measured_record(bare, 1, 10, 1));
    results.records.push_back(measured_record(fp32_weights, 1, 10, 1));
    const ExportedWinners exported = exported_winners({&results, 1});
    EXPECT_EQ(exported.winners.size(), 1u);
    ASSERT_EQ(exported.left_out.unnamed.size(), 2u);
    for (const std::string& code : {winners_cpp(exported), winners_triton(exported)}) {
        for (const std::string& key : exported.left_out.unnamed) {
            EXPECT_NE(code.find(key), std::string::npos) << code;
        }
    }
}

TEST(BestExport, WhereOthersAloneHaveATimeIsLeftOutByName) {
    Results results = run_of("", 1);
    results.records.push_back(measured_record(problem_of(8, 512), 1, 10, 1));
    results.records.push_back(measured_record(problem_of(8, 256), 1, 10, 1));
    results.records.back().candidate = Candidate::named("quack", "rms_norm");
    const ExportedWinners exported = exported_winners({&results, 1});
    EXPECT_EQ(exported.winners.size(), 2u);
    EXPECT_EQ(exported.left_out.of_others, std::vector<std::string>{problem_of(8, 256).key()});
    for (const std::string& code : {winners_cpp(exported), winners_triton(exported)}) {
        EXPECT_NE(code.find("no kernel of normtune's own has a time there: " + exported.left_out.of_others[0] + "\n"), std::string::npos)
            << code;
    }
}

TEST(BestExport, WhereNothingIsExportedItSaysWhy) {
    const auto refusal = [](const std::vector<Record>& records) -> std::string {
        Results results = run_of("", 1);
        results.records = records;
        try {
            exported_winners({&results, 1});
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    Record others = measured_record(problem_of(8, 256), 1, 10, 1);
    others.candidate = Candidate::named("quack", "rms_norm");
    Problem bare = problem_of(8, 512);
    bare.operation.affine = false;
    const Record unnamed = measured_record(bare, 1, 10, 1);
    const std::string of_others = "no winner to export: no kernel of normtune's own has a time on " + others.problem.key();
    EXPECT_EQ(refusal({others}), of_others);
    EXPECT_EQ(refusal({others, unnamed}).find(of_others + ", and every other problem needs more than an op"), 0U);
    EXPECT_EQ(refusal({unnamed}).find("no winner to export: nothing was ranked, or every problem needs more than an op"), 0U);
}

TEST(BestExport, OffsetsAndRowStridesAreNamed) {
    Results results = run_of("", 1);
    Problem kv_a = problem_of(8, 512);
    kv_a.shape.row_stride = 576;
    Problem gemma = problem_of(8, 512);
    gemma.operation.offset = 1;
    results.records.push_back(measured_record(gemma, 1, 10, 1));
    results.records.push_back(measured_record(kv_a, 1, 10, 1));
    const ExportedWinners exported = exported_winners({&results, 1});
    EXPECT_TRUE(exported.left_out.unnamed.empty());
    ASSERT_EQ(exported.winners.size(), 3u);
    EXPECT_EQ(exported.winners[1]->problem.shape.row_stride, 576);
    EXPECT_EQ(exported.winners[2]->problem.operation.offset, 1);
    EXPECT_NE(winners_triton(exported).find("\"llama\", 1, False): {\n        (8, 512, 512): "), std::string::npos);
    EXPECT_NE(winners_cpp(exported).find("Casting::llama, 8, 512, 0, 576, "), std::string::npos);
}

TEST(BestExport, WinnersOfNoGpuAreExportedWhereThatIsAskedForAlone) {
    for (const Backend backend : {Backend::cpu, Backend::replay}) {
        Results results = run_of("", 1);
        results.environment.device.backend = backend;
        EXPECT_THROW(exported_winners({&results, 1}), InputError);
        EXPECT_EQ(exported_winners({&results, 1}, true).winners.size(), 1u);
    }
}

TEST(BestExport, SeveralDevicesOrNoWinnerAreRefused) {
    std::vector<Results> runs{run_of("", 1), run_of("", 1)};
    runs[1].environment.device.name = "another";
    EXPECT_THROW(exported_winners(runs), InputError);
    Results unranked = run_of("", 1);
    unranked.records[0].measurement->rank = 0;
    EXPECT_THROW(exported_winners({&unranked, 1}), InputError);
}

TEST(BestExport, ADevicesNameCannotEndACommentOrADocstring) {
    Results results = run_of("", 1);
    results.environment.device.name = "evil\nint main();\"\"\"\nimport os\\";
    const ExportedWinners exported = exported_winners({&results, 1});
    EXPECT_EQ(winners_cpp(exported).find("\nint main"), std::string::npos);
    EXPECT_EQ(winners_triton(exported).find("\nimport os"), std::string::npos);
}

}  // namespace
}  // namespace normtune
