// Compiles what the default space plans on usual shapes, for a device that need not be here.
#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "devices/registry.h"
#include "space/axes.h"
#include "space/plan.h"
#include "space/space.h"

namespace normtune::testing {

struct CompiledSpace {
    int compiled = 0;
    int spilled = 0;  // of them, with spilled registers or scratch memory
};

/// What of a space is compiled: few that have each value that an axis has there, or each pair of values of two axes.
enum class Each { value, pair };

/// Of these, the one that has most that none before had, and so on until they have all.
inline std::vector<Configuration> covering(const std::vector<Configuration>& all, Each each) {
    using Value = std::pair<int, int>;  // axis, its value
    std::vector<std::set<std::pair<Value, Value>>> had(all.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
        for (int i = 0; i < axis_count; ++i) {
            for (int j = each == Each::pair ? i + 1 : i; j < (each == Each::pair ? axis_count : i + 1); ++j) {
                had[k].insert({{i, axis_value(all[k], static_cast<Axis>(i))}, {j, axis_value(all[k], static_cast<Axis>(j))}});
            }
        }
    }
    std::vector<Configuration> out;
    std::set<std::pair<Value, Value>> seen;
    for (;;) {
        std::size_t best = 0;
        std::size_t most = 0;
        for (std::size_t k = 0; k < all.size(); ++k) {
            std::erase_if(had[k], [&](const auto& one) { return seen.contains(one); });
            if (had[k].size() > most) {
                best = k;
                most = had[k].size();
            }
        }
        if (most == 0) {
            return out;
        }
        out.push_back(all[best]);
        seen.insert(had[best].begin(), had[best].end());
    }
}

/// Each op and mode on short, usual and wide rows; of what is planned, each value that an axis has there, or each pair of values of two
/// axes. Expects that what the rules on compiled code keep does not spill, fits on the device, and is something for each problem.
inline CompiledSpace compile_default_space(const DeviceInfo& device, Each each) {
    const std::unique_ptr<CodeCompiler> compiler = open_compiler(device);
    const SearchSpace space = load_space("default");
    CompiledSpace out;
    for (const char* key :
         {"rms_norm/forward/bf16/llama/8192x128", "rms_norm/backward/bf16/llama/32768x128",
          "fused_add_rms_norm/forward/bf16/llama/2048x512", "rms_norm/forward/bf16/llama/8192x4096",
          "rms_norm/backward/bf16/llama/8192x4096", "fused_add_rms_norm/backward/bf16/llama/8192x5120", "rms_norm/full/bf16/llama/128x8192",
          "fused_add_rms_norm/forward/bf16/llama/4096x16384", "rms_norm/backward/fp32/llama/2048x4096"}) {
        const Problem problem = parse_problem_key(key);
        const CodeRules rules(space, problem, device);
        std::vector<Configuration> planned;
        plan_problem(problem, space, backend_traits(device.backend), device, false,
                     [&](const Configuration& c, const RuleTally*) { planned.push_back(c); });
        const std::vector<Configuration> picked = covering(planned, each);
        for (const Configuration& c : picked) {
            compiler->ahead(problem, c);
        }
        int kept = 0;
        for (const Configuration& c : picked) {
            const CompileInfo info = compiler->compile(problem, c);
            ++out.compiled;
            out.spilled += *info.spill_bytes > 0 ? 1 : 0;
            if (rules.taken_by(c, info.figures()) == nullptr) {
                EXPECT_EQ(info.spill_bytes, 0) << device.arch << ' ' << key << ' ' << c.key();
                EXPECT_GT(*info.occupancy, 0) << device.arch << ' ' << key << ' ' << c.key();
                ++kept;
            }
        }
        EXPECT_GT(kept, 0) << device.arch << ' ' << key;
    }
    std::cout << device.arch << " by " << compiler->name() << ": " << out.compiled << " configurations compiled, " << out.spilled
              << " of them spill\n";
    return out;
}

}  // namespace normtune::testing
