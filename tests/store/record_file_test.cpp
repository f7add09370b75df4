#include "store/record_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "store/sample_results.h"
#include "support/error.h"
#include "support/temporary_folder.h"
#include "trial/random_record.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using testing::TemporaryFolder;

Results many_results() {
    Results results = testing::sample_results();
    testing::RandomRecords random(7);
    for (int i = 0; i < 50; ++i) {
        results.records.push_back(random.record());
    }
    return results;
}

void expect_all(RecordFile& file, const Results& written) {
    ASSERT_EQ(file.results().records.size(), written.records.size());
    for (std::size_t i = 0; i < written.records.size(); ++i) {
        EXPECT_EQ(to_json(file.whole(i)), to_json(written.records[i]));
        EXPECT_EQ(file.results().records[i].trial_key(), written.records[i].trial_key());
        EXPECT_EQ(file.results().records[i].outcome, written.records[i].outcome);
        EXPECT_FALSE(file.results().records[i].verification);
    }
}

TEST(RecordFile, GivesEachRecordAsItWasWritten) {
    const TemporaryFolder folder;
    const Results written = many_results();
    write_results_json(written, folder / "results.json");
    RecordFile file(folder.path());
    expect_all(file, written);
    EXPECT_EQ(file.results().environment.hostname, written.environment.hostname);
}

TEST(RecordFile, APipeIsReadOnce) {
    const TemporaryFolder folder;
    const Results written = many_results();
    write_results_json(written, folder / "results.json");
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    const std::jthread writer([&] {
        std::ifstream in(folder / "results.json");
        std::ofstream(folder / "pipe") << in.rdbuf();
    });
    RecordFile file(folder / "pipe");
    expect_all(file, written);
}

TEST(RecordFile, AFileThatWasCutSinceIsTold) {
    const TemporaryFolder folder;
    const Results written = many_results();
    write_results_json(written, folder / "results.json");
    const RecordFile file(folder / "results.json");
    ASSERT_EQ(::truncate((folder / "results.json").c_str(), 3000), 0);
    EXPECT_THROW(file.whole(written.records.size() - 1), InputError);
}

}  // namespace
}  // namespace normtune
