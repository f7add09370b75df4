// --batch-invariant takes one class of configurations for all M of an N: the default space has to have one.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "devices/registry.h"
#include "problem/problem.h"
#include "space/plan.h"
#include "space/reproducibility.h"
#include "space/space.h"
#include "support/sanitized.h"

namespace normtune {
namespace {

TEST(DefaultSpace, HasAClassForAllM) {
    if (testing::sanitized) {
        GTEST_SKIP() << "planning is the same under a sanitizer, and takes a minute";
    }
    const DeviceInfo device = describe_architecture("sm_90");
    const SearchSpace space = load_space("default");
    for (const int cols : {128, 512, 1024, 2048, 8192, 16384}) {
        for (const char* of : {"rms_norm/forward", cols > 8192 ? "fused_add_rms_norm/backward" : "rms_norm/backward"}) {
            std::set<std::string> common;
            bool first = true;
            std::string lost_at;
            for (const int rows : {4, 64, 1024, 4096, 8192, 65536}) {
                const Problem problem = parse_problem_key(fmt::format("{}/bf16/llama/{}x{}", of, rows, cols));
                std::set<std::string> classes;
                plan_problem(problem, space, backend_traits(device.backend), device, false,
                             [&](const Configuration& c, const RuleTally*) { classes.insert(row_class(c, device.backend)); });
                std::set<std::string> both;
                std::ranges::set_intersection(first ? classes : common, classes, std::inserter(both, both.end()));
                if (both.empty() && lost_at.empty()) {
                    lost_at = fmt::format("{} rows have {}", rows, fmt::join(classes, " "));
                }
                common = both;
                first = false;
            }
            EXPECT_FALSE(common.empty()) << of << " of " << cols << " columns: " << lost_at;
        }
    }
}

}  // namespace
}  // namespace normtune
