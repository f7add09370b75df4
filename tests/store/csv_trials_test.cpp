// results.csv read back by the field tables.
#include "store/csv_trials.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "store/result_rows.h"
#include "store/sample_results.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/temporary_folder.h"
#include "trial/random_record.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using testing::sample_results;

std::string csv_of(const Results& results) {
    const testing::TemporaryFolder folder;
    write_results_csv(results, folder / "results.csv");
    return read_file(folder / "results.csv");
}

std::string error_of(const std::string& csv) {
    try {
        parse_results_csv(csv, "results.csv");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(CsvTrials, AreThoseThatWereWritten) {
    const Results results = sample_results();
    const Results read = parse_results_csv(csv_of(results), "results.csv");
    ASSERT_EQ(read.records.size(), results.records.size());
    for (std::size_t i = 0; i < read.records.size(); ++i) {
        Record record = read.records[i];
        const Record& written = results.records[i];
        ASSERT_EQ(record.measurement.has_value(), written.measurement.has_value());
        ASSERT_EQ(record.compile.has_value(), written.compile.has_value());
        ASSERT_EQ(record.verification.has_value(), written.verification.has_value());
        if (written.verification) {
            EXPECT_EQ(record.verification->passed, written.verification->passed);
        }
        if (written.measurement) {
            EXPECT_TRUE(record.measurement->rounds.empty());
            EXPECT_NEAR(record.measurement->p50_us, written.measurement->p50_us, 1e-4);
            EXPECT_NEAR(record.measurement->limit_ratio, written.measurement->limit_ratio, 1e-4);
        }
        // What has no column, or fewer digits there, is as it was; then all is.
        record.problem.uses = written.problem.uses;
        record.verification = written.verification;
        record.bits = written.bits;
        if (written.measurement) {
            const Measurement cells = *record.measurement;
            record.measurement = written.measurement;
            Measurement& m = *record.measurement;
            m.samples = cells.samples;
            m.rank = cells.rank;
            m.tied = cells.tied;
            m.launches_per_sample = cells.launches_per_sample;
            m.stop_reason = cells.stop_reason;
            m.memory_bytes = cells.memory_bytes;
            m.rotation_bytes = cells.rotation_bytes;
            m.cold = cells.cold;
            m.timer = cells.timer;
            m.throttled_repeats = cells.throttled_repeats;
            m.throttle_reasons = cells.throttle_reasons;
        }
        EXPECT_EQ(to_json(record), to_json(written));
    }
    EXPECT_EQ(read.environment.device.name, results.records.front().device);
    EXPECT_EQ(read.environment.device.arch, results.records.front().arch);
    EXPECT_EQ(read.environment.device.driver, results.environment.device.driver);
    EXPECT_EQ(read.environment.normtune_version, "0.1.0");
    EXPECT_TRUE(read.plans.empty());
}

TEST(CsvTrials, NameEachModelAndSite) {
    Results results = sample_results();
    results.records.resize(1);
    results.records[0].problem.uses = {{"A", "q_norm", 1}, {"B", "k_norm", 1}};
    const std::vector<Use> uses = parse_results_csv(csv_of(results), "results.csv").records[0].problem.uses;
    ASSERT_EQ(uses.size(), 4u);
    EXPECT_EQ(uses[0].model, "A");
    EXPECT_EQ(uses[3].model, "B");
    EXPECT_EQ(uses[3].site, "k_norm");
}

TEST(CsvTrials, OfSeveralDevicesAreRefused) {
    Results results = sample_results();
    results.records.back().device = "another";
    EXPECT_EQ(error_of(csv_of(results)).find("results.csv:6: is of another device, 'another'"), 0U) << error_of(csv_of(results));
}

constexpr const char* csv_header = "op,mode,dtype,casting,rows,cols,config,outcome,p50_us,";
constexpr const char* trial = "rms_norm,forward,bf16,llama,8,1024,w4.t128.r1.row.registers.masked.per_row,passed,2,";

/// Of a file with one more column.
std::string error_with(const std::string& column, const std::string& cell) {
    return error_of(csv_header + column + "\n" + trial + cell + "\n");
}

TEST(CsvTrials, WhatAnOlderFileLacksHasItsDefault) {
    const std::string csv = std::string(csv_header) + "row_stride,weight_dtype,cold\n" + trial + "2048,fp32,FALSE\n" + trial + ",,True\n" +
                            "rms_norm,forward,fp16,llama,8,512,w4.t128.r1.row.registers.masked.per_row,passed,2,,,\n";
    const Results read = parse_results_csv(csv, "results.csv");
    EXPECT_EQ(read.records.at(0).problem.key(), "rms_norm/forward/bf16/llama/8x1024/stride2048/w_fp32");
    EXPECT_EQ(read.records.at(1).problem.key(), "rms_norm/forward/bf16/llama/8x1024");
    EXPECT_EQ(read.records.at(2).problem.key(), "rms_norm/forward/fp16/llama/8x512");
    EXPECT_FALSE(read.records.at(0).measurement->cold);
    EXPECT_TRUE(read.records.at(1).measurement->cold);
    EXPECT_TRUE(read.records.at(2).measurement->cold);
}

TEST(CsvTrials, WholeNumbersAreReadAsPandasWritesThem) {
    const std::string csv =
        std::string(csv_header) + "rank,rounds,samples,registers,offset\n" + trial + "1.0,6.0,6e1,34.0,1.0\n" + trial + ",,,,\n";
    const Record record = parse_results_csv(csv, "results.csv").records.at(0);
    EXPECT_EQ(record.measurement->rank, 1);
    EXPECT_EQ(record.measurement->rounds_taken, 6);
    EXPECT_EQ(record.measurement->samples, 60);
    EXPECT_EQ(record.compile->registers, 34);
    EXPECT_EQ(record.problem.operation.offset, 1);
    for (const char* cell : {"1.5", "nan", "inf", "-1.0", "1e300", "2147483648.0", "1.0.0"}) {
        EXPECT_EQ(error_with("rank", cell),
                  std::string("results.csv:2: rank is '") + cell + "'; a whole number from 0 to 2147483647 belongs there");
    }
}

TEST(CsvTrials, ImpossibleValuesAreRefused) {
    EXPECT_EQ(error_with("rank", "1"), "no error");
    EXPECT_EQ(error_with("rank", "first"), "results.csv:2: rank is 'first'; a whole number from 0 to 2147483647 belongs there");
    EXPECT_EQ(error_with("rounds", "-3"), "results.csv:2: rounds is '-3'; a whole number from 0 to 65535 belongs there");
    EXPECT_EQ(error_with("timestamp", "noon"),
              "results.csv:2: timestamp is 'noon'; a time in UTC such as 2026-11-20T23:59:59Z belongs there");
    EXPECT_EQ(error_with("cold", "maybe"), "results.csv:2: cold is 'maybe'; true or false belongs there");
    EXPECT_EQ(error_with("offset", "2"), "results.csv:2: offset is '2'; a whole number from 0 to 1 belongs there");
    EXPECT_EQ(error_with("stop_reason", "luck").find("results.csv:2: stop_reason is 'luck'; known: none, "), 0U);
    EXPECT_EQ(error_with("p20_us", "2.5"), "results.csv:2: p20_us 2.5, p50_us 2 and p80_us 0 are out of order");
    EXPECT_EQ(error_with("p80_us", "1.5"), "results.csv:2: p20_us 0, p50_us 2 and p80_us 1.5 are out of order");
    EXPECT_EQ(error_with("memory_mib", "-1"), "results.csv:2: memory_mib is '-1'; a number of at least 0 belongs there");
    EXPECT_EQ(error_with("memory_mib", "1e300"), "results.csv:2: memory_mib is '1e300'; that is more than there can be");
    EXPECT_EQ(error_with("row_stride", "512"), "results.csv:2: a row_stride of 512 is less than the 1024 columns");
    std::string unmeasured = std::string(csv_header) + "rank\n" + trial + "1\n";
    unmeasured.replace(unmeasured.rfind(",2,"), 3, ",,");
    EXPECT_EQ(error_of(unmeasured), "results.csv:2: was measured, but p50_us is not there");
}

/// The reader of comparisons and that of records.
std::vector<std::string> errors_of(const std::string& csv) {
    std::vector<std::string> errors{error_of(csv)};
    try {
        parse_result_rows(csv, "results.csv");
        errors.emplace_back("no error");
    } catch (const InputError& error) {
        errors.emplace_back(error.what());
    }
    return errors;
}

TEST(CsvTrials, AFileThatWasCutIsToldWherever) {
    const std::string whole = csv_of(sample_results());
    const std::size_t header_end = whole.find('\n') + 1;
    const std::vector<std::string> good{"no error", "no error"};
    ASSERT_EQ(errors_of(whole), good);
    EXPECT_EQ(errors_of(whole.substr(0, whole.size() - 2)), good) << "an editor may take the last line end";
    for (std::size_t at = 1; at < whole.size() - 3; ++at) {
        for (const std::string& error : errors_of(whole.substr(0, at))) {
            EXPECT_EQ(error.find("results.csv:"), 0U) << error << " at " << at;
        }
    }
    const std::size_t second = whole.find('\n', header_end) + 1;
    for (const std::string& error : errors_of(whole.substr(0, second))) {
        EXPECT_EQ(error,
                  "results.csv:2: the file ends here, and 4 more rows should follow: was it cut short? Without its column rows_left it "
                  "is read as it is");
    }
}

TEST(CsvTrials, AHeaderAloneIsThatOfARunWithoutTrialsOrWasCut) {
    const std::string whole = csv_of(sample_results());
    for (const std::string& error : errors_of(whole.substr(0, whole.find('\n') + 1))) {
        EXPECT_EQ(error,
                  "results.csv:1: the file ends behind its header: was it cut short? Of a run without trials it has no column rows_left");
    }
    const std::string empty = csv_of({});
    EXPECT_EQ(errors_of(empty), (std::vector<std::string>{"no error", "no error"}));
    for (const std::string& error : errors_of(empty.substr(0, empty.size() - 2))) {
        EXPECT_EQ(error.find("results.csv:1: the file ends behind its header"), 0U) << error;
    }
}

TEST(CsvTrials, RowsThatWereTakenOutOrPutTogetherAreNoCutFile) {
    const std::string csv = csv_of(sample_results());
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < csv.size(); at = csv.find('\n', at) + 1) {
        lines.push_back(csv.substr(at, csv.find('\n', at) + 1 - at));
    }
    ASSERT_EQ(lines.size(), 6U);
    const auto of = [&](const std::vector<std::size_t>& numbers) {
        std::string out = lines[0];
        for (const std::size_t number : numbers) {
            out += lines[number];
        }
        return error_of(out);
    };
    EXPECT_EQ(of({1, 3, 4}), "no error");
    EXPECT_EQ(of({5, 4, 3, 2, 1}), "no error");
    EXPECT_EQ(of({1, 2, 3, 4, 5, 1, 2, 3, 4, 5}), "no error");
    EXPECT_NE(of({1, 2, 3}), "no error");
    EXPECT_NE(of({3, 4}), "no error");
}

TEST(CsvTrials, AKeyThatDoesNotParseIsRefusedWithItsLine) {
    std::string csv = csv_of(sample_results());
    csv.replace(csv.find("w8.t"), 3, "w8x");
    EXPECT_EQ(error_of(csv).find("results.csv:2: configuration key '"), 0U) << error_of(csv);
}

}  // namespace
}  // namespace normtune
