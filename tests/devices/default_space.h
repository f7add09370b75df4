// Compiles what the default space plans on usual shapes, for a device that need not be here.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "devices/registry.h"
#include "space/plan.h"
#include "space/space.h"

namespace normtune::testing {

struct CompiledSpace {
    int compiled = 0;
    int spilled = 0;  // of them, with spilled registers or scratch memory
};

/// Each op and mode on short, usual and wide rows; of what is planned, what `picks` picks, or else the first. Expects that what the rules
/// on compiled code keep does not spill, fits on the device, and is something for each problem.
inline CompiledSpace compile_default_space(const DeviceInfo& device, const std::function<bool(const Configuration&)>& picks) {
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
        std::vector<Configuration> picked;
        std::optional<Configuration> first;
        plan_problem(problem, space, backend_traits(device.backend), device, false, [&](const Configuration& c, const RuleTally*) {
            first = first ? first : c;
            if (picks(c)) {
                picked.push_back(c);
            }
        });
        if (picked.empty() && first) {
            picked.push_back(*first);
        }
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
