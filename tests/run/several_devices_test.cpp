// One sweep on several devices at once: who measures what, devices that are lost, and what a kill leaves.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "run/sweep_fixture.h"
#include "store/journal.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

/// Eight shapes, forward and backward.
SweepOptions sweep_on(const TemporaryFolder& folder, std::vector<int> ordinals, const std::string& script) {
    SweepOptions options = small_sweep(folder, "devices: 4\n" + script);
    options.problems.clear();
    for (std::int64_t rows = 64; rows <= 64 << 7; rows *= 2) {
        for (const Mode mode : {Mode::forward, Mode::backward}) {
            Problem problem = small_problem(rows);
            problem.operation.mode = mode;
            options.problems.push_back(problem);
        }
    }
    options.ordinals = std::move(ordinals);
    return options;
}

std::map<std::string, std::set<std::string>> devices_by_shape(const Results& results) {
    std::map<std::string, std::set<std::string>> devices;
    for (const Record& record : results.records) {
        devices[fmt::format("{}x{}", record.problem.shape.rows, record.problem.shape.cols)].insert(record.device_id);
    }
    return devices;
}

std::map<std::string, std::set<std::string>> devices_by_problem(const Results& results) {
    std::map<std::string, std::set<std::string>> devices;
    for (const Record& record : results.records) {
        devices[record.problem.key()].insert(record.device_id);
    }
    return devices;
}

std::set<std::string> all_devices(const Results& results) {
    std::set<std::string> devices;
    for (const Record& record : results.records) {
        devices.insert(record.device_id);
    }
    return devices;
}

std::set<std::string> trials_passed(const Results& results) {
    std::set<std::string> trials;
    for (const Record& record : results.records) {
        if (record.outcome == Outcome::passed) {
            trials.insert(record.trial_key());
        }
    }
    return trials;
}

class OnSeveralDevices : public ::testing::TestWithParam<const Strategy*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, OnSeveralDevices, ::testing::Values(find_strategy("exhaustive"), find_strategy("racing")),
                         [](const auto& given) { return std::string(given.param->name()); });

TEST_P(OnSeveralDevices, EachShapeIsOfOneDeviceAndEachTrialIsThereOnce) {
    const TemporaryFolder folder;
    SweepOptions options = sweep_on(folder, {0, 2, 3}, "delays: {open_ms: 20}\n");
    options.strategy = GetParam();
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    EXPECT_EQ(result.results.records.size(), options.problems.size() * 6);
    EXPECT_EQ(trials_passed(result.results).size(), result.results.records.size());
    EXPECT_EQ(all_devices(result.results), (std::set<std::string>{"replay-0", "replay-2", "replay-3"}));
    for (const auto& [shape, devices] : devices_by_shape(result.results)) {
        EXPECT_EQ(devices.size(), 1U) << shape;
    }
    for (const Record& record : result.results.records) {
        const std::string device = record.device_id.substr(record.device_id.size() - 1);
        EXPECT_EQ(record.repeat.find(" --device " + device) != std::string::npos, device != "0") << record.repeat;
    }
    EXPECT_EQ(sink.updates.back().trials_done, result.results.records.size());
    EXPECT_TRUE(sink.warnings.empty());
}

TEST_P(OnSeveralDevices, WhatALostDeviceHadBegunIsMeasuredElsewhere) {
    const TemporaryFolder folder;
    SweepOptions options = sweep_on(folder, {0, 1, 2}, R"(
delays: {open_ms: 20}
faults: [{device: 1, at: measure, do: lose, from: 40}]
)");
    options.strategy = GetParam();
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    EXPECT_EQ(trials_passed(result.results).size(), options.problems.size() * 6);
    for (const auto& [problem, devices] : devices_by_problem(result.results)) {
        EXPECT_EQ(devices.size(), 1U) << problem;
    }
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_NE(sink.warnings[0].find("replay 1 is lost"), std::string::npos) << sink.warnings[0];
    // A resumed sweep does without it as well, and finds nothing left to do.
    options.resume = true;
    const std::size_t before = read_journal(options.out_folder).records.size();
    EXPECT_EQ(trials_passed(run_sweep(options, sink).results).size(), before);
}

TEST(SeveralDevices, WithoutTheLastDeviceTheSweepEnds) {
    const TemporaryFolder folder;
    const SweepOptions options = sweep_on(folder, {0, 1}, "faults: [{at: measure, do: lose, from: 40}]\n");
    RecordingSink sink;
    try {
        run_sweep(options, sink);
        FAIL();
    } catch (const SystemError& error) {
        EXPECT_NE(std::string(error.what()).find(" is lost"), std::string::npos) << error.what();
    }
    EXPECT_EQ(sink.warnings.size(), 1U);
    EXPECT_FALSE(read_journal(options.out_folder).records.empty());
}

TEST(SeveralDevices, ABudgetIsSpentOnAllOfThem) {
    const TemporaryFolder folder;
    SweepOptions options = sweep_on(folder, {0, 1, 2, 3}, "delays: {sample_ms: 1}\n");
    options.strategy = find_strategy("racing");
    options.budget_s = 20;  // more than it takes
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    EXPECT_EQ(all_devices(result.results).size(), 4U);
    EXPECT_EQ(devices_by_problem(result.results).size(), options.problems.size());
}

TEST(SeveralDevices, AProblemOfADeviceThatIsGoneIsMeasuredAnew) {
    const TemporaryFolder folder;
    SweepOptions options = sweep_on(folder, {1}, "faults: [{at: measure, do: lose, from: 200}]\n");
    RecordingSink sink;
    EXPECT_THROW(run_sweep(options, sink), SystemError);
    const JournalContents before = read_journal(options.out_folder);
    ASSERT_LT(before.finals.size() * 6, before.records.size());  // a problem is begun
    // The same selection, its journal moved to where another device has its number.
    std::filesystem::remove(options.replay_script + ".lost-1");
    folder.write("script.yaml", "devices: 2\n");
    JournalContents contents = before;
    for (Record& record : contents.records) {
        record.device_id = "replay-9";
    }
    std::filesystem::remove(folder.path("out/journal.jsonl"));
    {
        Journal journal = Journal::create(options.out_folder, contents.header);
        for (const Record& record : contents.records) {
            journal.append(record);
        }
        for (const FinalEntry& entry : contents.finals) {
            journal.append(entry);
        }
    }
    options.resume = true;
    const SweepResult result = run_sweep(options, sink);
    EXPECT_EQ(trials_passed(result.results).size(), options.problems.size() * 6);
    std::size_t problems_of_both = 0;
    for (const auto& [problem, devices] : devices_by_problem(result.results)) {
        EXPECT_EQ(devices.size(), 1U) << problem;
        problems_of_both += devices.contains("replay-9") ? 1 : 0;
    }
    EXPECT_EQ(problems_of_both, before.finals.size());
}

TEST(SeveralDevices, DevicesThatAreNotThereAreRefused) {
    const TemporaryFolder folder;
    const SweepOptions options = sweep_on(folder, {0, 4}, "");
    RecordingSink sink;
    EXPECT_THROW(run_sweep(options, sink), InputError);
}

}  // namespace
}  // namespace normtune
