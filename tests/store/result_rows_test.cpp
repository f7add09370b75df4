#include "store/result_rows.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "store/sample_results.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune {
namespace {

using testing::sample_results;

ResultRows written_and_read(const std::string& name) {
    const testing::TemporaryFolder folder;
    const Results results = sample_results();
    write_results_json(results, folder / "results.json");
    write_results_csv(results, folder / "results.csv");
    write_liger_csv(results, folder / "liger.csv");
    return read_result_rows(folder / name);
}

const ResultRow& row_of(const ResultRows& rows, std::string_view problem, std::string_view configuration) {
    for (const ResultRow& row : rows.rows) {
        if (rows.text(rows.problem_of(row).key) == problem && rows.text(row.configuration) == configuration) {
            return row;
        }
    }
    throw std::runtime_error("no such row");
}

TEST(ResultRows, OfJsonAndCsvAreOneAndTheSameButForTheRounds) {
    const ResultRows json = written_and_read("results.json");
    const ResultRows csv = written_and_read("results.csv");
    EXPECT_EQ(json.format, ResultFormat::results_json);
    EXPECT_EQ(csv.format, ResultFormat::results_csv);
    ASSERT_EQ(json.rows.size(), 5U);
    ASSERT_EQ(csv.rows.size(), 5U);
    for (std::size_t i = 0; i < json.rows.size(); ++i) {
        const ResultRow& a = json.rows[i];
        const ResultRow& b = csv.rows[i];
        EXPECT_EQ(json.text(json.problem_of(a).key), csv.text(csv.problem_of(b).key));
        EXPECT_EQ(json.text(json.problem_of(a).site), csv.text(csv.problem_of(b).site));
        EXPECT_EQ(json.text(a.configuration), csv.text(b.configuration));
        EXPECT_EQ(a.outcome, b.outcome);
        EXPECT_EQ(json.text(a.reason), csv.text(b.reason));
        EXPECT_EQ(a.rank, b.rank);
        EXPECT_EQ(a.timestamp, 20261120235959);
        EXPECT_EQ(b.timestamp, a.timestamp);
        EXPECT_EQ(std::isnan(a.p50_us), std::isnan(b.p50_us));
        if (!std::isnan(a.p50_us)) {
            EXPECT_NEAR(a.p50_us, b.p50_us, 1e-4);
            EXPECT_NEAR(a.p20_us, b.p20_us, 1e-4);
            EXPECT_NEAR(a.limit_us, b.limit_us, 1e-4);
            EXPECT_NEAR(a.memory_mib, b.memory_mib, 1e-6);
            EXPECT_EQ(json.text(json.origin_of(a).driver), csv.text(csv.origin_of(b).driver));
            EXPECT_EQ(csv.text(csv.origin_of(b).device), "Example CPU, 2 \"fast\" cores");
            EXPECT_EQ(csv.origin_of(b).cold, RowOrigin::Cold::cold);
            EXPECT_EQ(a.rounds, 2);
            EXPECT_EQ(b.rounds, 0);
            EXPECT_EQ(b.rounds_taken, 2);
        }
    }
}

TEST(ResultRows, OurLigerCsvKeepsTheProblemItsMemoryAndItsLimit) {
    const ResultRows rows = written_and_read("liger.csv");
    EXPECT_EQ(rows.format, ResultFormat::liger_csv);
    ASSERT_EQ(rows.rows.size(), 2U);  // the copies are limits, not trials
    const ResultRow& row = row_of(rows, "rms_norm/forward/bf16/llama/128x4096", "normtune");
    EXPECT_NEAR(row.p50_us, 90.25, 1e-3);
    EXPECT_NEAR(row.limit_us, 80, 1e-3);
    EXPECT_NEAR(row.memory_mib, 1.5, 1e-6);
    row_of(rows, "fused_add_rms_norm/backward/bf16/gemma/128x4096/stride4608/w_fp32/offset1", "normtune");
}

TEST(ResultRows, ColumnsMayComeInAnyOrderAndMoreOfThem) {
    const std::string text =
        "extra,p50_us,cols,rows,casting,dtype,mode,op,outcome,config,rounds\n"
        "\"x, y\",12.5,1024,8,llama,fp32,forward,rms_norm,passed,w4,7\r\n";
    const ResultRows rows = parse_result_rows(text, "x.csv");
    ASSERT_EQ(rows.rows.size(), 1U);
    EXPECT_EQ(rows.text(rows.problems[0].key), "rms_norm/forward/fp32/llama/8x1024");
    EXPECT_EQ(rows.rows[0].p50_us, 12.5);
    EXPECT_EQ(rows.rows[0].rounds_taken, 7);
    EXPECT_TRUE(std::isnan(rows.rows[0].p20_us));
}

TEST(ResultRows, LigersCsvHasProvidersDuplicatesAndHoles) {
    const ResultRows rows = read_result_rows(std::string(NORMTUNE_SOURCE_DIR) + "/tests/cli/inputs/liger_before.csv");
    const std::string_view key = "rms_norm/forward/bf16/llama/2048x1024";
    EXPECT_NEAR(row_of(rows, key, "liger").p50_us, 11.2, 1e-9);  // the newer one, which stands first
    EXPECT_NEAR(row_of(rows, key, "huggingface").p50_us, 29.12, 1e-9);
    EXPECT_NEAR(row_of(rows, "rms_norm/full/bf16/llama/2048x1024", "liger").memory_mib, 32.768, 1e-9);
    EXPECT_EQ(row_of(rows, "rms_norm/forward/bf16/llama/2048x65536", "huggingface").outcome, Outcome::launch_failed);
    row_of(rows, R"(layer_norm/backward/N=4096/{"M": 4096, "dtype": "torch.float32"})", "liger");
}

const std::string liger_columns =
    "kernel_name,kernel_provider,kernel_operation_mode,metric_name,metric_unit,x_name,x_value,y_value_50,extra_benchmark_config_str\n";

TEST(ResultRows, LigersSweepsOverTokensMatchThoseOverColumns) {
    const std::string extra = R"("{""hidden_size"": 4096, ""dtype"": ""torch.bfloat16"", ""eps"": 1e-06%}")";
    const auto key_of = [&](const std::string& kernel, const std::string& x, const std::string& more) {
        std::string config = extra;
        config.replace(config.find('%'), 1, more);
        const ResultRows rows =
            parse_result_rows(liger_columns + kernel + ",liger,forward,speed,ms," + x + ",0.02," + config + "\n", "x.csv");
        return std::string(rows.text(rows.problem_of(rows.rows.at(0)).key));
    };
    EXPECT_EQ(key_of("rms_norm", "T,2048", ""), "rms_norm/forward/bf16/llama/2048x4096");
    EXPECT_EQ(key_of("rms_norm", "T,2048", R"(, ""B"": 4)"), "rms_norm/forward/bf16/llama/8192x4096");
    EXPECT_EQ(key_of("fused_add_rms_norm", "BT,2048", R"(, ""B"": 4)"), "fused_add_rms_norm/forward/bf16/llama/2048x4096");
    EXPECT_EQ(key_of("rms_norm", "T,2048.5", "").find("rms_norm/forward/T="), 0U);
    EXPECT_EQ(key_of("rms_norm", "model_config,llama_3_8b", R"(, ""seq_len"": 2048)").find("rms_norm/forward/model_config="), 0U);
}

TEST(ResultRows, ACopyIsTheLimitOfItsProblemAndNoKernel) {
    const std::string shape = R"(,H,4096,0.02,"{""M"": 2048, ""dtype"": ""torch.bfloat16""}")"
                              "\n";
    const std::string of_peers = liger_columns + "rms_norm,copy,forward,speed,ms" + shape + "rms_norm,liger,forward,speed,ms" + shape;
    const ResultRows rows = parse_result_rows(of_peers + "memcpy,copy,forward,speed,ms" + shape, "x.csv");
    ASSERT_EQ(rows.rows.size(), 2U);
    EXPECT_NEAR(row_of(rows, "rms_norm/forward/bf16/llama/2048x4096", "liger").limit_us, 20, 1e-3);
    row_of(rows, R"(memcpy/forward/H=4096/{"M": 2048, "dtype": "torch.bfloat16"})", "copy");  // what normtune does not know stays
}

TEST(ResultRows, WhatLigersScriptsPrintReadsLikeTheirCsv) {
    const std::string inputs = std::string(NORMTUNE_SOURCE_DIR) + "/tests/cli/inputs/";
    const ResultRows csv = read_result_rows(inputs + "liger_after.csv");
    const ResultRows json = read_result_rows(inputs + "liger_printed.txt");
    EXPECT_EQ(json.format, ResultFormat::liger_json);
    const std::string_view key = "rms_norm/forward/bf16/llama/2048x4096";
    EXPECT_NEAR(row_of(csv, key, "liger").p50_us, row_of(json, key, "liger").p50_us, 1e-9);
    // Python's NaN, and lists that are shorter than the x values.
    EXPECT_TRUE(std::isnan(row_of(json, "rms_norm/forward/bf16/llama/2048x65536", "huggingface").p50_us));
}

TEST(ResultRows, ThrottledRoundsAreLeftOutWhereOthersRemain) {
    Results results = sample_results();
    std::vector<Round>& rounds = results.records[0].measurement->rounds;
    rounds = {{10, 5, false}, {11, 5, false}, {90, 5, true}, {12, 5, false}, {13, 5, false}};
    EXPECT_EQ(rows_of(results, "x").rows[0].rounds, 4);
    rounds.pop_back();
    EXPECT_EQ(rows_of(results, "x").rows[0].rounds, 4);
}

TEST(ResultRows, AFolderStandsForItsResults) {
    const testing::TemporaryFolder folder;
    EXPECT_THROW(read_result_rows(folder.path()), InputError);
    write_results_csv(sample_results(), folder / "results.csv");
    EXPECT_EQ(read_result_rows(folder.path()).format, ResultFormat::results_csv);
    write_results_json(sample_results(), folder / "results.json");
    EXPECT_EQ(read_result_rows(folder.path()).format, ResultFormat::results_json);
}

TEST(ResultRows, AFolderOfRunsIsOneOfEveryProcess) {
    const testing::TemporaryFolder folder;
    Results results = sample_results();
    write_results_json(results, folder / "second.json");
    std::filesystem::create_directory(folder / "first");
    for (Record& record : results.records) {
        if (record.measurement) {
            record.measurement->p50_us *= 1.001;
        }
    }
    write_results_csv(results, (folder / "first") + "/results.csv");
    std::filesystem::create_directory(folder / ".normtune-1a2b.tmp");
    write_results_csv(results, (folder / ".normtune-1a2b.tmp") + "/results.csv");  // a command's that was killed
    const ResultRows rows = read_result_rows(folder.path());
    ASSERT_EQ(rows.rows.size(), 10U);
    EXPECT_EQ(rows.rows.front().process, 0);
    EXPECT_EQ(rows.rows.back().process, 1);
    EXPECT_EQ(rows.rows[0].problem, rows.rows[5].problem);
    EXPECT_EQ(rows.rows[0].configuration, rows.rows[5].configuration);
    std::filesystem::remove_all(folder / "first");
    std::filesystem::remove(folder / "second.json");
    EXPECT_THROW(read_result_rows(folder.path()), InputError);
}

TEST(ResultRows, TwoFilesOfOneRunAreNoTwoProcesses) {
    const Results results = sample_results();
    const auto refused = [&](const std::function<void(const testing::TemporaryFolder&)>& write) {
        const testing::TemporaryFolder folder;
        write_results_json(results, folder / "llama3.json");
        write(folder);
        try {
            read_result_rows(folder.path());
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string of_csv = refused([&](const auto& folder) { write_results_csv(results, folder / "llama3.csv"); });
    EXPECT_NE(of_csv.find("llama3.csv and "), std::string::npos) << of_csv;
    EXPECT_NE(of_csv.find("llama3.json have the times of one run, which is one process and no two; leave one"), std::string::npos)
        << of_csv;
    EXPECT_NE(refused([&](const auto& folder) { write_results_json(results, folder / "copy.json"); }), "");
    Results stored = results;
    stored.plans.resize(1);
    stored.plans.front().problem_key = stored.records.front().problem.key();
    stored.plans.front().pruned.push_back({std::string(stored_rule), "", 0});
    const std::string of_store = refused([&](const auto& folder) { write_results_json(stored, folder / "stored.json"); });
    EXPECT_NE(of_store.find("normtune sweep --fresh measures"), std::string::npos) << of_store;
    Results later = results;
    for (Record& record : later.records) {
        record.timestamp = "2026-11-21T00:00:00Z";
    }
    EXPECT_EQ(refused([&](const auto& folder) { write_results_json(later, folder / "later.json"); }), "");
}

TEST(ResultRows, WhatAFurtherProcessGaveIsARowOfIt) {
    Results results = sample_results();
    Measurement& measured = *results.records[0].measurement;
    measured.repetitions = {{2, {{92, 10, false}, {94, 10, false}}, 91, 93, 95, 81, 0.25}, {3, {{90, 10, false}}, 89, 90, 91, 80, 0.5}};
    const ResultRows rows = rows_of(results, "x");
    ASSERT_EQ(rows.rows.size(), 7U);
    for (std::size_t i = 1; i < 3; ++i) {
        const ResultRow& row = rows.rows[i];
        const Repetition& repetition = measured.repetitions[i - 1];
        EXPECT_EQ(row.process, i);
        EXPECT_EQ(row.problem, rows.rows[0].problem);
        EXPECT_EQ(row.configuration, rows.rows[0].configuration);
        EXPECT_EQ(row.code, rows.rows[0].code);
        EXPECT_EQ(row.p50_us, repetition.p50_us);
        EXPECT_EQ(double{row.floor_us}, repetition.floor_us);
        EXPECT_EQ(double{row.limit_us}, repetition.limit_us);
        EXPECT_EQ(rows.rounds_of(row).size(), repetition.rounds.size());
        EXPECT_EQ(rows.rounds_of(row)[0], repetition.rounds[0].median_us);
        EXPECT_TRUE(rows.finals_of(row).empty());
    }
    const Results runs[] = {results, results};
    const ResultRows both = rows_of_runs(runs, "x");
    std::set<std::uint16_t> processes;
    for (const ResultRow& row : both.rows) {
        if (row.configuration == both.rows[0].configuration && row.problem == both.rows[0].problem) {
            EXPECT_TRUE(processes.insert(row.process).second) << row.process;
        }
    }
    EXPECT_EQ(processes, (std::set<std::uint16_t>{0, 1, 2, 3, 4, 5}));
}

TEST(ResultRows, PartsOfADeviceAreToldApartWhereBothSidesSayThem) {
    const ResultRows whole = rows_of(sample_results(), "whole");
    Results results = sample_results();
    EXPECT_EQ(other_part_of_device(whole, rows_of(results, "again")), "") << "another machine with the same device";
    results.environment.device.compute_units = 1;
    const ResultRows part = rows_of(results, "part");
    EXPECT_EQ(
        other_part_of_device(whole, part).rfind("whole was measured on 2 compute units of 'Example CPU, 2 \"fast\" cores', part on 1: ", 0),
        0U)
        << other_part_of_device(whole, part);
    EXPECT_EQ(other_part_of_device(whole, written_and_read("results.csv")), "") << "a CSV does not say it";
    results.merged = {{sample_results().environment, {}}, {results.environment, {}}};
    EXPECT_NE(other_part_of_device(whole, rows_of(results, "merged")).find(", merged on 1, 2: "), std::string::npos);
    results.merged.clear();
    results.environment.device.name = "another";
    EXPECT_EQ(other_part_of_device(whole, rows_of(results, "another")), "");
    const Results runs[] = {sample_results(), results};
    EXPECT_EQ(rows_of_runs(runs, "both").devices.size(), 2U);
}

TEST(ResultRows, EqualCodeIsEqualMachineCodeLaunchedAlike) {
    Results results = sample_results();
    const auto code_of = [&](const std::string& hash, std::int64_t programs) {
        results.records.resize(1);
        CompileInfo& compile = results.records[0].compile.emplace();
        compile.code_hash = hash;
        compile.programs = programs;
        const std::uint64_t of_json = rows_of(results, "json").rows[0].code;
        const testing::TemporaryFolder folder;
        write_results_csv(results, folder / "results.csv");
        EXPECT_EQ(read_result_rows(folder / "results.csv").rows[0].code, of_json);
        return of_json;
    };
    const std::string hash(32, '7');
    EXPECT_EQ(code_of("", 8), 0U);
    EXPECT_EQ(code_of(hash.substr(16), 8), 0U);  // names of functions
    EXPECT_NE(code_of(hash, 8), 0U);
    EXPECT_EQ(code_of(hash, 8), code_of(hash, 8));
    EXPECT_NE(code_of(hash, 8), code_of(hash, 16));
    EXPECT_NE(code_of(hash, 8), code_of(std::string(32, '8'), 8));
}

TEST(StringInterner, AreKeptOnce) {
    StringInterner texts;
    std::vector<TextId> ids;
    for (int i = 0; i < 5000; ++i) {
        ids.push_back(texts.intern("text " + std::to_string(i)));
    }
    EXPECT_EQ(texts.size(), 5000U);
    EXPECT_EQ(texts.intern("text 4321"), ids[4321]);
    EXPECT_EQ(texts[ids[17]], "text 17");
    EXPECT_EQ(texts.find("text 5000"), std::nullopt);
    const std::string large(3 << 20, 'x');
    EXPECT_EQ(texts[texts.intern(large)], large);
    EXPECT_EQ(texts[texts.intern("after")], "after");
}

}  // namespace
}  // namespace normtune
