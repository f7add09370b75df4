#include "store/stored_results.h"

#include <gtest/gtest.h>

#include "store/sample_results.h"

namespace normtune {
namespace {

using testing::sample_trial;

StoredProblem measured(const std::string& device, std::int64_t rows, const std::string& measured_at, double p50_us) {
    Problem problem;
    problem.shape = {rows, 1024, 1024};
    StoredProblem out;
    out.identity = {Backend::cuda, device, "sm_90", "580", 132, "kernels", "space", "measuring"};
    out.environment.device.name = device;
    out.environment.started = measured_at;
    out.measured_at = measured_at;
    out.trials = 10;
    out.timed = 8;
    out.records = {sample_trial(problem, Configuration{}, p50_us, 1)};
    return out;
}

TEST(StoredResults, OfEachProblemTheNewestOfEachDevice) {
    const std::vector<DeviceWinners> devices =
        newest_winners({measured("A", 8, "2026-11-19T00:00:00Z", 1), measured("B", 8, "2026-11-20T00:00:00Z", 2),
                        measured("A", 16, "2026-11-20T00:00:00Z", 3), measured("A", 8, "2026-11-21T00:00:00Z", 4),
                        measured("A", 8, "2026-11-18T00:00:00Z", 5)},
                       {});
    ASSERT_EQ(devices.size(), 2U);
    const DeviceWinners& a = devices[0];
    EXPECT_EQ(a.older, 1U);
    EXPECT_EQ(a.results.environment.started, "2026-11-21T00:00:00Z");
    ASSERT_EQ(a.results.records.size(), 2U);
    EXPECT_EQ(a.results.records[0].measurement->p50_us, 4);
    EXPECT_EQ(a.results.records[1].problem.shape.rows, 16);
    EXPECT_EQ(devices[1].older, 0U);
    EXPECT_EQ(devices[1].results.environment.device.name, "B");
}

TEST(StoredResults, APartOfADeviceIsAnotherAndEpsIsPartOfAProblem) {
    StoredProblem part = measured("A", 8, "2026-11-21T00:00:00Z", 870);
    part.identity.compute_units = 16;
    StoredProblem other_eps = measured("A", 8, "2026-11-20T00:00:00Z", 2);
    other_eps.records[0].problem.operation.eps = 1e-5;
    const std::vector<DeviceWinners> devices = newest_winners({measured("A", 8, "2026-11-19T00:00:00Z", 105), part, other_eps}, {});
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_EQ(devices[0].results.records.size() + devices[1].results.records.size(), 3U);
    EXPECT_EQ(devices[0].older + devices[1].older, 0U);
}

TEST(StoredResults, ByDeviceAndShapeWhateverTheOrderInTheStore) {
    StoredProblem backward = measured("A", 8, "2026-11-21T00:00:00Z", 1);
    backward.records[0].problem.operation.mode = Mode::backward;
    StoredProblem wide = measured("A", 4, "2026-11-21T00:00:00Z", 1);
    wide.records[0].problem.shape = {4, 4096, 4096};
    const std::vector<DeviceWinners> devices =
        newest_winners({measured("B", 8, "2026-11-19T00:00:00Z", 1), backward, wide, measured("A", 128, "2026-11-19T00:00:00Z", 1),
                        measured("A", 16, "2026-11-20T00:00:00Z", 1)},
                       {});
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_EQ(devices[1].results.environment.device.name, "B");
    std::vector<std::string> keys;
    for (const Record& record : devices[0].results.records) {
        keys.push_back(record.problem.key().substr(9));
    }
    EXPECT_EQ(keys, (std::vector<std::string>{"forward/bf16/llama/16x1024", "forward/bf16/llama/128x1024", "forward/bf16/llama/4x4096",
                                              "backward/bf16/llama/8x1024"}));
}

TEST(StoredResults, PatternsAndColdOrHotChoose) {
    StoredProblem hot = measured("NVIDIA H100", 8, "2026-11-21T00:00:00Z", 1);
    hot.records[0].measurement->cold = false;
    const std::vector<StoredProblem> all{measured("NVIDIA H100", 8, "2026-11-20T00:00:00Z", 2), hot,
                                         measured("NVIDIA H200", 8, "2026-11-20T00:00:00Z", 3)};
    const auto times = [&](const StoreFilter& filter) {
        std::vector<double> out;
        for (const DeviceWinners& device : newest_winners(all, filter)) {
            for (const Record& record : device.results.records) {
                out.push_back(record.measurement->p50_us);
            }
        }
        return out;
    };
    EXPECT_EQ(times({}), (std::vector<double>{2, 3}));
    EXPECT_EQ(times({"*h100*", "", true}), std::vector<double>{2});
    EXPECT_EQ(times({"*h100*", "", false}), std::vector<double>{1});
    EXPECT_EQ(times({"", "sm_*", true}).size(), 2U);
    EXPECT_TRUE(times({"", "gfx*", true}).empty());
}

TEST(StoredResults, APlanStillAddsUp) {
    PlanSummary plan;
    plan.points = 100;
    plan.kept = 10;
    plan.pruned = {{"rule", "why", 90}};
    const PlanSummary after = stored_plan(plan, measured("A", 8, "2026-11-20T00:00:00Z", 1));
    EXPECT_TRUE(after.stored());
    EXPECT_FALSE(plan.stored());
    EXPECT_EQ(after.kept, 1U);
    EXPECT_EQ(after.taken_by(stored_rule), 7U);
    EXPECT_EQ(after.taken_by(stored_untimed_rule), 2U);
    std::uint64_t sum = after.kept;
    for (const PlanSummary::Pruned& tally : after.pruned) {
        sum += tally.count;
    }
    EXPECT_EQ(sum, after.points);
}

}  // namespace
}  // namespace normtune
