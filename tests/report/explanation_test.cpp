#include "report/explanation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "devices/registry.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/layout.h"
#include "report/runs.h"

namespace normtune {
namespace {

constexpr const char* long_key = "w16.t256.r4.row.registers.masked.persistent_strided.gamma_hoisted.s2.cooperative.tile256x32x16.h2.d2";

TEST(Explanation, HasALineForEachAxisOfEachPartAndTheDefaultsInTheNote) {
    const Section section = explain_configuration(Configuration::parse(long_key)).front();
    std::string key;
    std::string part;
    for (std::size_t i = 1; i < section.table.lines().size(); ++i) {
        const std::vector<std::string>& cells = section.table.lines()[i];
        if (cells[0] != part) {
            part = cells[0];
            key += (key.empty() ? "" : ".") + part;
        }
    }
    EXPECT_EQ(key, long_key) << "the parts put together";
    for (const AxisRow& row : axis_table) {
        const bool told = std::any_of(section.table.lines().begin(), section.table.lines().end(),
                                      [&](const std::vector<std::string>& cells) { return cells[1] == row.name; });
        EXPECT_TRUE(told || section.note.find(std::string(row.name) + " ") != std::string::npos) << row.name << " is not told of";
    }
}

TEST(Explanation, OnAGpuHasTheLaunchPlan) {
    const DeviceInfo h100 = describe_architecture("sm_90");
    const Problem problem = parse_problem_key("rms_norm/backward/bf16/llama/8192x4096");
    const Configuration configuration = Configuration::parse("w8.t256.r4.row.registers.masked.persistent_strided");
    const gpu::LaunchPlan plan = gpu::launch_plan(configuration, problem, h100);
    ASSERT_EQ(plan.launches.size(), 2u);
    const Section section = explain_on(configuration, problem, h100);
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        const std::vector<std::string>& cells = section.table.lines().at(i + 1);
        EXPECT_EQ(cells[0], plan.launches[i].kernel);
        EXPECT_EQ(cells[1], fmt::format("{}", plan.launches[i].grid[0]));
        EXPECT_EQ(cells[2], fmt::format("{}", plan.launches[i].threads()));
        EXPECT_EQ(cells[3], grouped(static_cast<std::uint64_t>(plan.launches[i].shared_bytes)));
    }
    EXPECT_NE(section.note.find("A program has 256 threads in 8 warps: 1 row of 256 threads each."), std::string::npos) << section.note;
    EXPECT_NE(section.note.find(fmt::format("Workspace: {} bytes.", grouped(static_cast<std::uint64_t>(plan.workspace_bytes)))),
              std::string::npos)
        << section.note;
}

TEST(Explanation, OfAnotherProvidersKeyAreItsTunables) {
    const Section section = explain_key("acme:norm.BLOCK=256.VECTOR=4").front();
    EXPECT_EQ(section.table.csv(), "tunable,value\r\nBLOCK,256\r\nVECTOR,4\r\n");
}

}  // namespace
}  // namespace normtune
