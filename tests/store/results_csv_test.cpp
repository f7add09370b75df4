#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "store/golden.h"
#include "store/results.h"
#include "store/sample_results.h"
#include "support/atomic_file.h"
#include "support/csv.h"
#include "support/csv_reader.h"
#include "support/temporary_folder.h"
#include "support/utf8.h"
#include "trial/random_record.h"

namespace normtune {
namespace {

using testing::RandomRecords;
using testing::TemporaryFolder;

std::string written(const Results& results) {
    const TemporaryFolder folder;
    write_results_csv(results, folder / "results.csv");
    return read_file(folder / "results.csv");
}

/// Cells by column name.
class Table {
public:
    explicit Table(std::string_view csv) : rows_(testing::read_csv(csv)) {}
    std::size_t size() const { return rows_.size() - 1; }
    const std::vector<std::string>& header() const { return rows_[0]; }
    const std::string& at(std::size_t row, const std::string& column) const {
        const auto it = std::find(header().begin(), header().end(), column);
        return rows_.at(row + 1).at(static_cast<std::size_t>(it - header().begin()));
    }
    bool rectangular() const {
        return std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row.size() == header().size(); });
    }

private:
    std::vector<std::vector<std::string>> rows_;
};

TEST(ResultsCsv, FixedColumnsComeFirstInTheirOrder) {
    const std::string fixed =
        "timestamp,backend,device,arch,op,mode,dtype,casting,model,site,rows,cols,config,num_warps,threads_per_row,"
        "rows_per_program,block_size,reduction,outcome,reason,samples,p20_us,p50_us,p80_us,gbps,limit_ratio,memory_mib,"
        "compile_ms,";
    const std::string csv = written({});
    EXPECT_EQ(csv.substr(0, fixed.size()), fixed);
    const Table table(csv);
    const std::set<std::string> names(table.header().begin(), table.header().end());
    EXPECT_EQ(names.size(), table.header().size()) << "a column twice";
    for (int i = 0; i < axis_count; ++i) {
        EXPECT_EQ(names.count(std::string(axis_names.names[static_cast<std::size_t>(i)])), 1u) << i;
    }
}

TEST(ResultsCsv, Golden) {
    testing::expect_golden(written(testing::sample_results()), "store/results.csv");
}

/// A field as it was before it was kept from being a formula.
std::string text_of(const std::string& field) {
    return has_formula_guard(field) ? field.substr(1) : field;
}

TEST(ResultsCsv, TextComesBackWhateverIsInIt) {
    RandomRecords random(11);
    const Results results = random.results(200);
    const Table table(written(results));
    ASSERT_TRUE(table.rectangular());
    ASSERT_EQ(table.size(), results.records.size());
    for (std::size_t i = 0; i < results.records.size(); ++i) {
        const Record& record = results.records[i];
        EXPECT_EQ(text_of(table.at(i, "device")), record.device);
        EXPECT_EQ(text_of(table.at(i, "reason")), record.reason);
        EXPECT_EQ(text_of(table.at(i, "repeat")), record.repeat);
        EXPECT_EQ(text_of(table.at(i, "model")), joined_models(record.problem.uses));
        EXPECT_EQ(Candidate::named(text_of(table.at(i, "provider")), text_of(table.at(i, "config"))), record.candidate);
        EXPECT_EQ(table.at(i, "rows"), std::to_string(record.problem.shape.rows));
        EXPECT_EQ(std::stod(table.at(i, "eps")), record.problem.operation.eps);
        EXPECT_EQ(table.at(i, "p50_us").empty(), !record.measurement.has_value());
        if (record.measurement) {
            EXPECT_NEAR(std::stod(table.at(i, "p50_us")), record.measurement->p50_us, 5.001e-5 + 1e-15 * record.measurement->p50_us);
        }
    }
}

TEST(ResultsCsv, WhatIsNotKnownIsEmpty) {
    Results results;
    Record record;
    record.problem.shape = {1, 8, 8};
    results.records.push_back(record);
    record.measurement = Measurement{};
    record.measurement->p50_us = std::nan("");
    record.measurement->limit_ratio = HUGE_VAL;
    results.records.push_back(record);
    const Table table(written(results));
    for (const char* column : {"samples", "p20_us", "p50_us", "gbps", "limit_ratio", "memory_mib", "compile_ms", "rank", "tied", "rounds",
                               "cold", "registers", "occupancy", "clock_mhz", "verified", "worst_over_bound"}) {
        EXPECT_EQ(table.at(0, column), "") << column;
    }
    EXPECT_EQ(table.at(1, "p50_us"), "");
    EXPECT_EQ(table.at(1, "limit_ratio"), "");
    EXPECT_EQ(table.at(1, "rank"), "");  // measured, not ranked
}

TEST(ResultsCsv, WorstErrorIsOverAllShapesAndTensors) {
    Results results;
    Record record;
    record.problem.shape = {1, 8, 8};
    TensorCheck good;
    good.worst_over_bound = 0.5;
    TensorCheck bad;
    bad.worst_over_bound = 1.25;
    record.verification = Verification{};
    record.verification->shapes = {{record.problem.shape, 1, {good, bad}}, {record.problem.shape, 1, {good}}};
    results.records.push_back(record);
    record.verification->shapes[1].tensors[0].worst_over_bound = std::nan("");
    results.records.push_back(record);
    const Table table(written(results));
    EXPECT_EQ(table.at(0, "worst_over_bound"), "1.2500");
    EXPECT_EQ(table.at(1, "worst_over_bound"), "inf");
}

}  // namespace
}  // namespace normtune
