#include <gtest/gtest.h>

#include <fstream>

#include "devices/registry.h"
#include "store/results.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune {
namespace {

using testing::TemporaryFolder;

TEST(KernelsDigest, OfReplayIsThatOfWhatIsPlayed) {
    const TemporaryFolder folder;
    const std::string script = folder / "script.yaml";
    const auto digest_of = [&](const std::string& yaml) {
        std::ofstream(script) << yaml;
        DeviceInfo device;
        device.backend = Backend::replay;
        return kernels_digest(device, script);
    };
    const std::string one = digest_of("seed: 1\n");
    EXPECT_EQ(digest_of("seed: 1\n"), one);
    EXPECT_NE(digest_of("seed: 2\n"), one);
    write_results_json({}, folder / "recorded.json");
    const std::string recorded = digest_of("recorded: recorded.json\n");
    Results other;
    other.command = {"another"};
    write_results_json(other, folder / "recorded.json");
    EXPECT_NE(digest_of("recorded: recorded.json\n"), recorded);
}

TEST(KernelsDigest, OfTheProcessorIsThatOfTheBuild) {
    DeviceInfo device;
    device.backend = Backend::cpu;
    EXPECT_EQ(kernels_digest(device, "").size(), 32U);
    EXPECT_EQ(kernels_digest(device, ""), kernels_digest(device, ""));
}

TEST(KernelsDigest, OfAGpuNeedsItsCompilerAndNoDevice) {
    const DeviceInfo device = describe_architecture("sm_90");
    try {
        EXPECT_EQ(kernels_digest(device, "").size(), 32U);
    } catch (const InputError& error) {
        GTEST_SKIP() << error.what();
    }
}

}  // namespace
}  // namespace normtune
