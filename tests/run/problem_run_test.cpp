// What a problem asks its compiler for before its turn has come.
#include "run/problem_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "run/sweep_fixture.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

std::vector<Configuration> six() {
    std::vector<Configuration> configurations(6);
    for (std::size_t i = 0; i < configurations.size(); ++i) {
        configurations[i].rows_per_program = 1 << i;
    }
    return configurations;
}

class CompileAhead : public ::testing::Test {
protected:
    std::optional<AheadRequest> request(const JournalContents& earlier) {
        Journal journal = Journal::create(folder_.make_folder("journal"), {});
        Recorder recorder(journal, earlier, sink_, 6);
        WorkerSession session({}, {});  // never started
        return ProblemRun(options_, {}, problem_, configurations_, session, recorder).beginning(experience_);
    }

    TemporaryFolder folder_;
    SweepOptions options_ = [this] {
        SweepOptions options = small_sweep(folder_, "seed: 1\n");
        options.strategy = Strategy::racing;
        return options;
    }();
    Problem problem_ = small_problem(256);
    std::vector<Configuration> configurations_ = six();
    Experience experience_;
    RecordingSink sink_;
};

TEST_F(CompileAhead, ANeighboursWinnerIsFirst) {
    experience_.note({small_problem(512),
                      {{configurations_[4].key(), 0}, {configurations_[1].key(), 0.3}, {configurations_[2].key(), 0.1}},
                      configurations_[4].key()});
    const std::optional<AheadRequest> request = this->request({});
    ASSERT_TRUE(request);
    ASSERT_EQ(request->configurations.size(), 6U);
    EXPECT_EQ(request->configurations[0].key(), configurations_[4].key());
    EXPECT_TRUE(request->verify);
    ASSERT_TRUE(request->problem);  // another one is open
    EXPECT_EQ(request->problem->key(), problem_.key());
}

TEST_F(CompileAhead, WhatIsRecordedIsNotCompiledAgain) {
    JournalContents earlier;
    for (const std::size_t i : {0U, 2U, 3U, 4U, 5U}) {
        Record record;
        record.problem = problem_;
        record.configuration = configurations_[i];
        earlier.records.push_back(record);
    }
    const std::optional<AheadRequest> request = this->request(earlier);
    ASSERT_TRUE(request);
    ASSERT_EQ(request->configurations.size(), 1U);
    EXPECT_EQ(request->configurations[0].key(), configurations_[1].key());
}

TEST_F(CompileAhead, NothingIsAskedForWhereNothingIsMissing) {
    JournalContents earlier;
    for (const Configuration& configuration : configurations_) {
        Record record;
        record.problem = problem_;
        record.configuration = configuration;
        earlier.records.push_back(record);
    }
    EXPECT_FALSE(request(earlier));
}

}  // namespace
}  // namespace normtune
