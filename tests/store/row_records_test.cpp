#include "store/row_records.h"

#include <gtest/gtest.h>

#include "store/sample_results.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune {
namespace {

using testing::sample_results;

ResultRows csv_of(const Results& results) {
    const testing::TemporaryFolder folder;
    write_results_csv(results, folder / "results.csv");
    return read_result_rows(folder / "results.csv");
}

TEST(RowRecords, OfACsvAreThoseThatWereWritten) {
    const Results results = sample_results();
    const Results read = records_of(csv_of(results));
    ASSERT_EQ(read.records.size(), results.records.size());
    for (std::size_t i = 0; i < read.records.size(); ++i) {
        const Record& record = read.records[i];
        const Record& written = results.records[i];
        EXPECT_EQ(record.trial_key(), written.trial_key());
        EXPECT_EQ(record.candidate, written.candidate);
        EXPECT_EQ(record.outcome, written.outcome);
        EXPECT_EQ(record.device, written.device);
        EXPECT_EQ(record.arch, written.arch);
        ASSERT_EQ(record.measurement.has_value(), written.measurement.has_value());
        if (written.measurement) {
            EXPECT_NEAR(record.measurement->p50_us, written.measurement->p50_us, 1e-4);
            EXPECT_EQ(record.measurement->rank, written.measurement->rank);
            EXPECT_EQ(record.measurement->tied, written.measurement->tied);
        }
    }
    EXPECT_EQ(read.environment.device.arch, results.records.front().arch);
    EXPECT_TRUE(read.plans.empty());
}

TEST(RowRecords, NameEachModelAndSite) {
    Results results = sample_results();
    results.records.resize(1);
    results.records[0].problem.uses = {{"A", "q_norm", 1}, {"B", "k_norm", 1}};
    const std::vector<Use> uses = records_of(csv_of(results)).records[0].problem.uses;
    ASSERT_EQ(uses.size(), 4u);
    EXPECT_EQ(uses[0].model, "A");
    EXPECT_EQ(uses[3].model, "B");
    EXPECT_EQ(uses[3].site, "k_norm");
}

TEST(RowRecords, OfSeveralDevicesAreRefused) {
    Results results = sample_results();
    results.records.back().device = "another";
    EXPECT_THROW(records_of(csv_of(results)), InputError);
}

TEST(RowRecords, OfAnotherBenchmarkOrWithAnotherKeyAreRefused) {
    EXPECT_THROW(records_of(rows_of(sample_results(), "memory")), InputError);  // not a CSV
    ResultRows rows = csv_of(sample_results());
    rows.rows[0].configuration = rows.texts.intern("provider");
    try {
        records_of(rows);
        FAIL() << "a configuration that does not parse was taken";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("results.csv:2"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace normtune
