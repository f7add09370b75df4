// What is written fits schemas/results.schema.json, and the schema is strict enough to notice if it did not.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "store/golden.h"
#include "store/journal.h"
#include "store/results.h"
#include "store/results_schema.h"
#include "store/sample_results.h"
#include "support/csv_reader.h"
#include "support/temporary_folder.h"
#include "trial/random_record.h"

namespace normtune {
namespace {

/// Debian's python3 with python3-jsonschema; a missing interpreter or module fails the test.
int check(const std::string& results, const std::string& journal) {
    const std::string source = NORMTUNE_SOURCE_DIR;
    const std::string command = "/usr/bin/python3 '" + source + "/tests/store/check_schema.py' '" + source +
                                "/schemas/results.schema.json' '" + results + "' '" + journal + "'";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void write_journal(const std::string& folder, const Results& results) {
    Journal journal = Journal::create(folder, {results.environment, results.command, R"({"seed":1})", results.plans});
    for (const Record& record : results.records) {
        journal.append(record);
    }
    Round round;
    round.median_us = 1.5;
    journal.append(RepetitionEntry{"problem", "w4", {2, {round}, 1, 1.5, 2, 1, 0.5}});
    journal.append(FinalEntry{"problem", {{"w4", {1.5}, 1, true}}});
    journal.append(VoidEntry{"problem"});
}

TEST(Schema, IsThatOfTheFieldTables) {
    testing::expect_golden(testing::pretty(testing::results_schema()) + '\n', "../../schemas/results.schema.json");
}

/// A validator that fetches nothing takes each schema by itself: what it shares with that of the results stands in it, and is the same.
TEST(Schema, OthersHaveWhatTheyShareWithIt) {
    nlohmann::ordered_json shared = testing::results_schema()["$defs"];
    for (const char* name : {"provider", "candidate"}) {
        shared[name] = shared["record"]["properties"][name];
    }
    for (const char* name : {"audit", "axis", "fit", "plan", "transfer", "winners"}) {
        const std::string file = fmt::format("../../schemas/{}.schema.json", name);
        auto schema = nlohmann::ordered_json::parse(read_file(fmt::format("{}/tests/golden/{}", NORMTUNE_SOURCE_DIR, file)));
        int found = 0;
        for (auto& [definition, value] : schema["$defs"].items()) {
            if (shared.contains(definition)) {
                value = shared[definition];
                ++found;
            }
        }
        EXPECT_GT(found, 0) << name;
        testing::expect_golden(testing::pretty(schema) + '\n', file);
    }
}

TEST(Schema, TheDocsNameEachColumn) {
    const std::string docs = read_file(std::string(NORMTUNE_SOURCE_DIR) + "/docs/files.md");
    const testing::TemporaryFolder folder;
    write_results_csv(testing::sample_results(), folder / "results.csv");
    const std::vector<std::vector<std::string>> lines = testing::read_csv(read_file(folder / "results.csv"));
    for (const std::string& column : lines.at(0)) {
        const bool axis = axis_names.find(column).has_value();  // the docs have "`residency` … `cluster`"
        EXPECT_TRUE(axis || docs.find('`' + column + '`') != std::string::npos) << column;
    }
}

TEST(Schema, ResultsAndJournalFit) {
    const testing::TemporaryFolder folder;
    testing::RandomRecords random(51);
    Results results = testing::sample_results();
    for (int i = 0; i < 60; ++i) {
        results.records.push_back(random.record());
    }
    results.merged = {{results.environment, results.command}};
    write_results_json(results, folder / "results.json");
    write_journal(folder.path(), results);
    EXPECT_EQ(check(folder / "results.json", folder / "journal.jsonl"), 0);
}

}  // namespace
}  // namespace normtune
