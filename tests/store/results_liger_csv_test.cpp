#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

#include "store/golden.h"
#include "store/results.h"
#include "store/sample_results.h"
#include "support/atomic_file.h"
#include "support/csv_reader.h"
#include "support/temporary_folder.h"
#include "trial/random_record.h"

namespace normtune {
namespace {

using testing::TemporaryFolder;

std::string written_liger(const Results& results) {
    const TemporaryFolder folder;
    write_liger_csv(results, folder / "liger.csv");
    return read_file(folder / "liger.csv");
}

enum Column { kernel, provider, mode, metric, unit, x_name, x_label, x_value, y50, y20, y80, config, gpu, time, version };

TEST(LigerCsv, Golden) {
    testing::expect_golden(written_liger(testing::sample_results()), "store/liger.csv");
}

TEST(LigerCsv, HasLigersColumnsAndTheWinnersOfEachProblem) {
    const auto rows = testing::read_csv(written_liger(testing::sample_results()));
    EXPECT_EQ(rows[0], (std::vector<std::string>{"kernel_name", "kernel_provider", "kernel_operation_mode", "metric_name", "metric_unit",
                                                 "x_name", "x_label", "x_value", "y_value_50", "y_value_20", "y_value_80",
                                                 "extra_benchmark_config_str", "gpu_name", "timestamp", "liger_version"}));
    ASSERT_EQ(rows.size(), 1u + 2 * 3);  // two problems; speed of the winner and of the copy, memory
    const auto& speed = rows[1];
    EXPECT_EQ(speed[kernel], "rms_norm");
    EXPECT_EQ(speed[provider], "normtune");
    EXPECT_EQ(speed[mode], "forward");
    EXPECT_EQ(speed[unit], "ms");
    EXPECT_EQ(std::stod(speed[y50]), 0.09025);  // rank 1, not the first record
    EXPECT_EQ(speed[x_value], "4096");
    EXPECT_EQ(speed[time], "2026-11-20 23:59:59");
    EXPECT_EQ(rows[2][provider], "copy");
    EXPECT_EQ(std::stod(rows[2][y50]), 0.08);
    EXPECT_EQ(rows[3][metric], "memory");
    EXPECT_EQ(rows[3][unit], "MB");
    EXPECT_EQ(std::stod(rows[3][y50]), 1.5);
}

/// Liger's own rows have exactly this text for its RMSNorm benchmark, so rows of both merge in one table.
TEST(LigerCsv, TheConfigurationOfAPlainProblemIsLigersText) {
    Results results = testing::sample_results();
    results.records.resize(1);
    results.records[0].problem.shape = {2048, 1024, 1024};
    EXPECT_EQ(testing::read_csv(written_liger(results))[1][config], R"({"M": 2048, "dtype": "torch.bfloat16", "eps": 1e-06})");
}

TEST(LigerCsv, RowsDifferInWhatTheirPlotsSelectBy) {
    testing::RandomRecords random(21);
    Results results = random.results(300);
    std::set<std::string> problems;
    for (Record& record : results.records) {
        record.outcome = Outcome::passed;
        record.problem.operation.eps = 1e-6;
        record.measurement = random.measurement();
        record.device = "one";
        problems.insert(record.problem.key());
    }
    const auto rows = testing::read_csv(written_liger(results));
    std::set<std::vector<std::string>> keys;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].size(), 15u);
        EXPECT_TRUE(nlohmann::json::parse(rows[i][config]).is_object());
        keys.insert({rows[i][kernel], rows[i][provider], rows[i][mode], rows[i][metric], rows[i][x_value], rows[i][config]});
    }
    EXPECT_EQ(keys.size(), rows.size() - 1);
    EXPECT_EQ(rows.size() - 1, problems.size() * 3);
}

TEST(LigerCsv, OnlyPassedTrialsCount) {
    Results results = testing::sample_results();
    for (Record& record : results.records) {
        record.outcome = Outcome::incorrect;
    }
    EXPECT_EQ(testing::read_csv(written_liger(results)).size(), 1u);
}

TEST(LigerCsv, WithoutRanksTheFastestStandsForItsProblem) {
    Results results = testing::sample_results();
    results.records.resize(2);
    for (Record& record : results.records) {
        record.measurement->rank = 0;
    }
    EXPECT_EQ(std::stod(testing::read_csv(written_liger(results))[1][y50]), 0.09025);
}

}  // namespace
}  // namespace normtune
