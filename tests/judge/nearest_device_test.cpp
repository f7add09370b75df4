#include "judge/nearest_device.h"

#include <gtest/gtest.h>

#include "judge/synthetic_records.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::add;
using testing::narrow;
using testing::problem_of;
using testing::wide;

constexpr const char* many_warps = "w32.t1024.r1.row.registers.masked.per_row";

std::vector<Results> device(const std::string& arch, int compute_units, const std::vector<testing::Times>& times) {
    std::vector<Results> runs(1);
    add(runs.front(), problem_of(8, 4096), times);
    DeviceInfo& info = runs.front().environment.device;
    info.name = "GPU of " + arch;
    info.arch = arch;
    info.compute_units = compute_units;
    return runs;
}

TEST(NearestDevice, ByTheArchitecturesNumberWhereNothingIsKnown) {
    const std::vector<std::vector<Results>> devices{device("sm_80", 108, {{narrow, 10}}), device("sm_90", 132, {{narrow, 10}}),
                                                    device("gfx942", 304, {{narrow, 10}})};
    const Proposal blackwell = propose(devices, "sm_120", std::nullopt);
    EXPECT_EQ(blackwell.nearest.arch, "sm_90");
    EXPECT_EQ(blackwell.devices, 2u);
    EXPECT_FALSE(blackwell.measured);
    EXPECT_EQ(propose(devices, "sm_75", std::nullopt).nearest.arch, "sm_80");
    EXPECT_EQ(propose(devices, "gfx90a", std::nullopt).nearest.arch, "gfx942");
    EXPECT_TRUE(propose(devices, "sm_80", std::nullopt).measured);
}

TEST(NearestDevice, AnotherDeviceOfTheSameArchitectureIsNamed) {
    std::vector<std::vector<Results>> devices{device("sm_90", 132, {{narrow, 10}}), device("sm_80", 108, {{narrow, 10}})};
    EXPECT_EQ(propose(devices, "sm_90", std::nullopt).text().size(), 1U);
    devices.push_back(device("sm_90", 78, {{narrow, 12}}));
    devices.back().front().environment.device.name = "its sister";
    const Proposal proposal = propose(devices, "sm_90", std::nullopt);
    ASSERT_EQ(proposal.text().size(), 2U);
    EXPECT_EQ(proposal.text()[1], "its sister is sm_90, too: give the results of one device alone for its winners.");
}

TEST(NearestDevice, ByWhatTheDevicesHaveWhereThatIsKnown) {
    const std::vector<std::vector<Results>> devices{device("sm_80", 50, {{narrow, 10}}), device("sm_90", 200, {{narrow, 10}})};
    DeviceInfo small = testing::gpu();
    small.compute_units = 40;
    EXPECT_EQ(propose(devices, "sm_120", small).nearest.arch, "sm_80");
    small.compute_units = 180;
    EXPECT_EQ(propose(devices, "sm_120", small).nearest.arch, "sm_90");
}

TEST(NearestDevice, ItsLossElsewhereIsSaid) {
    const std::vector<std::vector<Results>> devices{device("sm_80", 108, {{narrow, 10}, {wide, 8}}),
                                                    device("sm_90", 132, {{narrow, 10}, {wide, 12}})};
    const Proposal proposal = propose(devices, "sm_120", std::nullopt);
    ASSERT_EQ(proposal.elsewhere.size(), 1u);
    EXPECT_EQ(proposal.elsewhere[0].device.arch, "sm_80");
    EXPECT_NEAR(proposal.elsewhere[0].worst, 0.25, 1e-12);
    EXPECT_NE(proposal.text().at(1).find("25.0% at worst"), std::string::npos);
    EXPECT_NE(propose({devices[1]}, "sm_120", std::nullopt).text().at(1).find("nothing says what they lose elsewhere"), std::string::npos);
}

TEST(NearestDevice, AWinnerThatCannotRunThereMakesRoomForTheNextBest) {
    const std::vector<std::vector<Results>> devices{device("sm_90", 132, {{many_warps, 10}, {wide, 12}, {narrow, 11}})};
    DeviceInfo target = testing::gpu();
    target.arch = "sm_120";
    target.max_threads_per_program = 512;
    target.shared_bytes_per_program = std::int64_t{99} << 10;
    const Proposal proposal = propose(devices, "sm_120", target);
    EXPECT_EQ(proposal.problems, 1u);
    EXPECT_EQ(proposal.replaced, 1u);
    EXPECT_TRUE(proposal.empty.empty());
    const auto says = [](const Proposal& of, std::string_view what) {
        const std::vector<std::string> text = of.text();
        return std::ranges::any_of(text, [&](const std::string& line) { return line.find(what) != std::string::npos; });
    };
    EXPECT_TRUE(says(proposal, "1 of 1 winners cannot run there: the best that can has taken the place."));
    std::vector<std::vector<Results>> more{device("sm_90", 132, {{many_warps, 10}})};
    const Proposal none = propose(more, "sm_120", target);
    EXPECT_EQ(none.empty.size(), 1U);
    EXPECT_TRUE(says(none, "1 of 1 winners cannot run there: nothing that was measured of their problems can."));
    testing::add(more[0][0], testing::problem_of(7, 256), {{many_warps, 10}, {narrow, 11}});
    EXPECT_TRUE(says(propose(more, "sm_120", target), "2 of 2 winners cannot run there: of 1 the best that can has taken the place."));
    const std::vector<Record>& records = proposal.runs.at(0).records;
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].measurement->rank, 0);
    EXPECT_EQ(records[1].candidate.key(), narrow);
    EXPECT_EQ(records[1].measurement->rank, 1);
    const std::vector<std::vector<Results>> two{devices[0], device("sm_80", 108, {{many_warps, 8}, {wide, 10}, {narrow, 20}})};
    const Proposal of_two = propose(two, "sm_120", target);
    ASSERT_EQ(of_two.elsewhere.size(), 1u);
    EXPECT_NEAR(of_two.elsewhere[0].worst, 1.5, 1e-12) << "of the one that took the place";
    const Proposal nothing = propose({device("sm_90", 132, {{many_warps, 10}})}, "sm_120", target);
    EXPECT_EQ(nothing.empty.size(), 1u);
    EXPECT_TRUE(nothing.runs.at(0).records.empty());
}

TEST(NearestDevice, OfOtherProvidersKernelsItSaysThatNobodyAsked) {
    std::vector<std::vector<Results>> devices{device("sm_90", 132, {{many_warps, 10}, {narrow, 11}})};
    devices[0][0].records[0].candidate = Candidate::named("quack", "rms_norm");
    const Proposal proposal = propose(devices, "sm_120", testing::gpu());
    EXPECT_EQ(proposal.of_others, 1u);
    EXPECT_EQ(proposal.text().at(3), "1 of the proposed is a kernel of other providers: whether these run there was not looked at.");
}

TEST(NearestDevice, WhatIsNoArchitectureOrOfAnotherKindIsRefused) {
    const std::vector<std::vector<Results>> devices{device("sm_90", 132, {{narrow, 10}})};
    EXPECT_THROW(propose(devices, "blackwell", std::nullopt), InputError);
    EXPECT_THROW(propose(devices, "sm_", std::nullopt), InputError);
    EXPECT_THROW(propose(devices, "sm_9x", std::nullopt), InputError);
    EXPECT_THROW(propose(devices, "gfx942", std::nullopt), InputError);
}

}  // namespace
}  // namespace normtune
