#include "trial/dependent_launch.h"

#include <memory>

#include <gtest/gtest.h>

#include "trial/launch_manifest.h"

namespace normtune {
namespace {

TEST(LaunchedDependent, IsWhatBeginsBeforeTheOpAheadHasEnded) {
    EXPECT_FALSE(launched_dependent(Candidate(Configuration{})));
    EXPECT_TRUE(launched_dependent(Configuration::parse("w4.t128.r1.row.registers.masked.per_row.pdl_on")));
    EXPECT_FALSE(launched_dependent(Candidate::named("peer", "k1"))) << "a file tells its name alone";
    auto manifest = std::make_shared<LaunchManifest>();
    EXPECT_FALSE(launched_dependent(Candidate(manifest)));
    manifest->plan.launches.resize(2);
    manifest->plan.launches[1].overlaps = true;
    EXPECT_FALSE(launched_dependent(Candidate(manifest))) << "its own second launch, within the op";
    manifest->plan.launches[0].overlaps = true;
    EXPECT_TRUE(launched_dependent(Candidate(manifest)));
}

}  // namespace
}  // namespace normtune
