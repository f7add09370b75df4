#include "trial/candidate.h"

#include <gtest/gtest.h>

#include <memory>

#include "support/error.h"
#include "trial/launch_manifest.h"

namespace normtune {
namespace {

TEST(Candidate, AnOwnOneIsItsConfigurationsKey) {
    Configuration configuration;
    configuration.num_warps = 8;
    const Candidate candidate = configuration;
    EXPECT_EQ(candidate.provider(), "normtune");
    EXPECT_EQ(candidate.identity(), configuration.key());
    EXPECT_EQ(Candidate::parse(candidate.identity()), candidate);
    ASSERT_NE(candidate.configuration(), nullptr);
    EXPECT_EQ(candidate.configuration()->num_warps, 8);
    EXPECT_EQ(candidate.manifest(), nullptr);
}

TEST(Candidate, AnotherProvidersIsProviderAndKey) {
    const Candidate candidate = Candidate::parse("vendor:norm:v2");
    EXPECT_EQ(candidate.provider(), "vendor");
    EXPECT_EQ(candidate.key(), "norm:v2");
    EXPECT_EQ(candidate.identity(), "vendor:norm:v2");
    EXPECT_EQ(candidate.configuration(), nullptr);
    EXPECT_NE(candidate, Candidate());
}

TEST(Candidate, AManifestIsTheOneThatAFileNames) {
    auto manifest = std::make_shared<LaunchManifest>();
    manifest->provider = "kernel";
    manifest->key = "nt_forward";
    const Candidate candidate(manifest);
    EXPECT_EQ(candidate, Candidate::named("kernel", "nt_forward"));
    EXPECT_EQ(candidate.manifest(), manifest);
    EXPECT_EQ(candidate.configuration(), nullptr);
}

TEST(Candidate, WhatIsNoneIsRefused) {
    EXPECT_THROW(Candidate::parse("w4.nonsense"), InputError);
    EXPECT_THROW(Candidate::parse(":key"), InputError);
    EXPECT_THROW(Candidate::parse("vendor:"), InputError);
    EXPECT_THROW(Candidate::named("two words", "key"), InputError);
    EXPECT_THROW(Candidate::named("normtune", "key"), InputError);
}

}  // namespace
}  // namespace normtune
