// Result files with candidates of other providers, and those from before there were any.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "store/journal_lines.h"
#include "store/result_rows.h"
#include "store/results.h"
#include "store/sample_results.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/temporary_folder.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

Results with_a_vendors_kernel() {
    Results results = testing::sample_results();
    results.records[1].candidate = Candidate::named("vendor", "norm, v2");
    return results;
}

std::string file_of(void (*write)(const Results&, const std::string&), const Results& results, const char* name) {
    const testing::TemporaryFolder folder;
    write(results, folder / name);
    return read_file(folder / name, std::size_t{1} << 20);
}

std::string without(std::string text, const std::string& part) {
    std::size_t erased = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at), ++erased) {
        text.erase(at, part.size());
    }
    EXPECT_GT(erased, 0U) << part;
    return text;
}

TEST(CandidateFiles, JsonAndCsvNameProviderAndKey) {
    const Results results = with_a_vendors_kernel();
    const std::string json = file_of(write_results_json, results, "results.json");
    const std::string csv = file_of(write_results_csv, results, "results.csv");
    const Results read = parse_results_json(json, "results.json");
    const ResultRows json_rows = parse_result_rows(json, "results.json");
    const ResultRows csv_rows = parse_result_rows(csv, "results.csv");
    const Results csv_records = parse_results_csv(csv, "results.csv");
    ASSERT_EQ(read.records.size(), results.records.size());
    for (std::size_t i = 0; i < results.records.size(); ++i) {
        const Candidate& written = results.records[i].candidate;
        EXPECT_EQ(read.records[i].candidate, written);
        EXPECT_EQ(csv_records.records[i].candidate, written);
        EXPECT_EQ(json_rows.text(json_rows.rows[i].configuration), written.identity());
        EXPECT_EQ(csv_rows.text(csv_rows.rows[i].configuration), written.identity());
    }
}

TEST(CandidateFiles, AJournalKeepsThem) {
    Record record = with_a_vendors_kernel().records[1];
    const std::string journal = journal_line(JournalHeader{}) + journal_line(record) +
                                journal_line(FinalEntry{record.problem.key(), {{record.candidate.identity(), {1, 2}, 1, false}}});
    const JournalContents contents = parse_journal(journal, "journal.jsonl").contents;
    ASSERT_EQ(contents.records.size(), 1U);
    EXPECT_EQ(contents.records[0].candidate, record.candidate);
    EXPECT_EQ(contents.finals.at(0).finalists.at(0).candidate, "vendor:norm, v2");
}

TEST(CandidateFiles, WithoutAProviderAllIsNormtunes) {
    const Results results = testing::sample_results();
    const std::string json = without(file_of(write_results_json, results, "results.json"), R"("provider":"normtune",)");
    const Results read = parse_results_json(json, "results.json");
    const std::string csv = file_of(write_results_csv, results, "results.csv");
    std::string older;
    for (std::size_t at = 0; at < csv.size(); at = csv.find('\n', at) + 1) {
        const std::string line = csv.substr(at, csv.find('\n', at) - at);
        older += line.substr(0, line.rfind(',', line.rfind(',') - 1)) + '\n';  // without provider and rows_left
    }
    const Results csv_records = parse_results_csv(older, "results.csv");
    for (std::size_t i = 0; i < results.records.size(); ++i) {
        EXPECT_EQ(read.records[i].candidate, results.records[i].candidate);
        EXPECT_EQ(csv_records.records[i].candidate, results.records[i].candidate);
    }
    const std::string line = without(journal_line(results.records[0]), R"("provider":"normtune",)");
    const JournalContents contents = parse_journal(journal_line(JournalHeader{}) + line, "journal.jsonl").contents;
    EXPECT_EQ(contents.records.at(0).candidate, results.records[0].candidate);
}

TEST(CandidateFiles, WhatIsNoProviderIsRefused) {
    nlohmann::json record = to_json(with_a_vendors_kernel().records[1]);
    record["provider"] = "two words";
    EXPECT_THROW(from_json<Record>({record, ""}), InputError);
    record["provider"] = "normtune";
    EXPECT_THROW(from_json<Record>({record, ""}), InputError);  // without a configuration
    record["provider"] = "vendor";
    EXPECT_EQ(from_json<Record>({record, ""}).candidate.key(), "norm, v2");
    record["candidate"] = "";
    EXPECT_THROW(from_json<Record>({record, ""}), InputError);
}

}  // namespace
}  // namespace normtune
