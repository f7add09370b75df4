// What a problem asks its compiler for before its turn has come.
#include "run/problem_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "run/requests_log.h"
#include "run/sweep_fixture.h"
#include "support/atomic_file.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

std::vector<Candidate> six() {
    std::vector<Candidate> candidates(6);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        candidates[i].configuration()->rows_per_program = 1 << i;
    }
    return candidates;
}

class CompileAhead : public ::testing::Test {
protected:
    std::optional<AheadRequest> request(const JournalContents& earlier) {
        Journal journal = Journal::create(folder_.make_folder("journal"), {});
        Recorder recorder(journal, earlier, sink_, 6);
        WorkerSessions sessions({{}}, {});  // never started
        return ProblemRun(options_, {}, problem_, candidates_, sessions, recorder).beginning(experience_);
    }

    TemporaryFolder folder_;
    SweepOptions options_ = [this] {
        SweepOptions options = small_sweep(folder_, "seed: 1\n");
        options.strategy = find_strategy("racing");
        return options;
    }();
    Problem problem_ = small_problem(256);
    std::vector<Candidate> candidates_ = six();
    Experience experience_;
    RecordingSink sink_;
};

TEST_F(CompileAhead, ANeighboursWinnerIsFirst) {
    experience_.note(
        {small_problem(512), {{candidates_[4].key(), 10}, {candidates_[1].key(), 13}, {candidates_[2].key(), 11}}, candidates_[4].key()});
    const std::optional<AheadRequest> request = this->request({});
    ASSERT_TRUE(request);
    ASSERT_EQ(request->candidates.size(), 6U);
    EXPECT_EQ(request->candidates[0].key(), candidates_[4].key());
    EXPECT_TRUE(request->verify);
    ASSERT_TRUE(request->problem);  // another one is open
    EXPECT_EQ(request->problem->key(), problem_.key());
}

TEST_F(CompileAhead, WhatIsRecordedIsNotCompiledAgain) {
    JournalContents earlier;
    for (const std::size_t i : {0U, 2U, 3U, 4U, 5U}) {
        Record record;
        record.problem = problem_;
        record.candidate = candidates_[i];
        earlier.records.push_back(record);
    }
    const std::optional<AheadRequest> request = this->request(earlier);
    ASSERT_TRUE(request);
    ASSERT_EQ(request->candidates.size(), 1U);
    EXPECT_EQ(request->candidates[0].key(), candidates_[1].key());
}

TEST_F(CompileAhead, NothingIsAskedForWhereNothingIsMissing) {
    JournalContents earlier;
    for (const Candidate& candidate : candidates_) {
        Record record;
        record.problem = problem_;
        record.candidate = candidate;
        earlier.records.push_back(record);
    }
    EXPECT_FALSE(request(earlier));
}

TEST_F(CompileAhead, TheFirstKernelsAreCompiledWhileBuffersAreFilled) {
    const std::string log = folder_.path("requests");
    Journal journal = Journal::create(folder_.make_folder("journal"), {});
    Recorder recorder(journal, {}, sink_, 6);
    WorkerSessions sessions({{{"/proc/self/exe", testing::requests_log_command, log}, Backend::replay, 0, "", 0, folder_.path("log")}}, {});
    const DeviceInfo device;
    ProblemRun run(options_, device, problem_, candidates_, sessions, recorder);
    run.run(std::nullopt, experience_, [] { return std::optional<AheadRequest>(); });  // that worker builds nothing
    EXPECT_EQ(read_file(log).substr(0, 11), "ahead\nopen\n");
}

}  // namespace
}  // namespace normtune
