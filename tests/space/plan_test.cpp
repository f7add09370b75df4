#include "space/plan.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "devices/registry.h"
#include "space/common_limits.h"
#include "space/rules.h"
#include "support/error.h"

namespace normtune {
namespace {

constexpr BackendTraits no_traits() {
    return {Backend::replay, {}, {}};
}

DeviceInfo device_of(int warp_size, int compute_units) {
    DeviceInfo device;
    device.warp_size = warp_size;
    device.compute_units = compute_units;
    device.shared_bytes_per_program = 65536;
    return device;
}

Problem planned_problem(std::int64_t rows, std::int64_t cols, Mode mode = Mode::forward) {
    Problem problem;
    problem.shape = {rows, cols, cols};
    problem.operation.mode = mode;
    return problem;
}

Rule rule_of(const std::string& name, const std::string& keep, bool keep_all_if_none = false) {
    return {name, keep, keep_all_if_none, "space.yaml", 1};
}

struct Outcome {
    std::uint64_t kept = 0;
    std::vector<std::uint64_t> pruned;
    std::vector<bool> lifted;
    std::map<std::string, std::string> taken_by;  // key and values of a point, the tally that took it ("" for kept)
};

std::string point_text(const Configuration& configuration, const SearchSpace& space) {
    std::string text;
    for (const AxisValues& axis : space.axes) {
        text += axis_text(axis.axis, axis_value(configuration, axis.axis)) + " ";
    }
    return text;
}

/// The definition itself: each rule in turn looks at every point that is left.
Outcome brute_force(const Problem& problem, const SearchSpace& space, const BackendTraits& traits, const DeviceInfo& device) {
    std::vector<Configuration> left{Configuration{}};
    for (const AxisValues& axis : space.axes) {
        std::vector<Configuration> next;
        for (Configuration c : left) {
            for (const int value : axis.values) {
                set_axis(c, axis.axis, value);
                next.push_back(c);
            }
        }
        left = std::move(next);
    }
    Outcome outcome;
    const auto apply = [&](const std::string& name, bool keep_all_if_none, const auto& keeps) {
        std::vector<Configuration> stay;
        std::copy_if(left.begin(), left.end(), std::back_inserter(stay), keeps);
        const bool lifted = keep_all_if_none && stay.empty() && !left.empty();
        outcome.lifted.push_back(lifted);
        outcome.pruned.push_back(lifted ? 0 : left.size() - stay.size());
        if (lifted) {
            return;
        }
        for (const Configuration& c : left) {
            if (!keeps(c)) {
                outcome.taken_by[point_text(c, space)] = name;
            }
        }
        left = std::move(stay);
    };
    for (const auto& limits : {inert_limits(space, traits), common_limits(space, traits), traits.limits}) {
        for (const BackendLimit& limit : limits) {
            apply(limit.name, false, [&](const Configuration& c) { return limit.admits(c, problem, device); });
        }
    }
    for (const Rule& rule : space.rules) {
        const CompiledRule compiled(rule, problem, device);
        apply(rule.name, rule.keep_all_if_none, [&](const Configuration& c) { return compiled.ask(c) == RuleAnswer::keeps; });
    }
    outcome.kept = left.size();
    for (const Configuration& c : left) {
        outcome.taken_by[point_text(c, space)] = "";
    }
    return outcome;
}

void expect_exact(const Problem& problem, const SearchSpace& space, const BackendTraits& traits, const DeviceInfo& device) {
    const Outcome expected = brute_force(problem, space, traits, device);
    std::map<std::string, std::string> seen;
    const ProblemPlan plan = plan_problem(problem, space, traits, device, true, [&](const Configuration& c, const RuleTally* by) {
        const bool fresh = seen.emplace(point_text(c, space), by == nullptr ? "" : by->rule).second;
        ASSERT_TRUE(fresh) << "seen twice: " << point_text(c, space);
    });
    EXPECT_EQ(seen, expected.taken_by);
    std::uint64_t kept_seen = 0;
    const ProblemPlan kept_only = plan_problem(problem, space, traits, device, false, [&](const Configuration& c, const RuleTally* by) {
        EXPECT_EQ(by, nullptr);
        EXPECT_EQ(expected.taken_by.at(point_text(c, space)), "");
        ++kept_seen;
    });
    const ProblemPlan counted = plan_problem(problem, space, traits, device, false, {});
    EXPECT_EQ(kept_seen, expected.kept);
    for (const ProblemPlan* p : {&plan, &kept_only, &counted}) {
        EXPECT_EQ(p->points, expected.taken_by.size());
        EXPECT_EQ(p->kept, expected.kept);
        ASSERT_EQ(p->tallies.size(), expected.pruned.size());
        for (std::size_t i = 0; i < p->tallies.size(); ++i) {
            EXPECT_EQ(p->tallies[i].pruned, expected.pruned[i]) << p->tallies[i].rule;
            EXPECT_EQ(p->tallies[i].lifted, expected.lifted[i]) << p->tallies[i].rule;
        }
    }
}

/// Some values of some axes, in random order.
SearchSpace random_space(std::mt19937_64& random) {
    const std::vector<AxisValues> pool{{Axis::num_warps, {1, 2, 4, 8}},
                                       {Axis::threads_per_row, {8, 16, 64, 128, 256}},
                                       {Axis::rows_per_program, {1, 2, 4, 16}},
                                       {Axis::block_size, {whole_row, 64, 256, 1024, 4096}},
                                       {Axis::residency, {0, 1, 2}},
                                       {Axis::reduction, {0, 1, 2, 3}},
                                       {Axis::grid, {0, 1, 2, 3}},
                                       {Axis::programs_per_sm, {1, 2, 4}},
                                       {Axis::gamma, {0, 1, 2}},
                                       {Axis::vector_bytes, {2, 4, 16}},
                                       {Axis::stages, {1, 2}},
                                       {Axis::offset_bits, {0, 1, 2}},
                                       {Axis::dgamma, {0, 1, 2}},
                                       {Axis::reduce_rows, {64, 128}},
                                       {Axis::rows_binding, {0, 1}}};
    SearchSpace space;
    space.name = "random";
    std::vector<std::size_t> order(pool.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
        AxisValues axis = pool[i];
        std::shuffle(axis.values.begin(), axis.values.end(), random);
        axis.values.resize(1 + random() % axis.values.size());
        if (space.points() * axis.values.size() <= 3000) {
            space.axes.push_back(axis);
        }
    }
    const std::vector<std::string> expressions{"num_warps <= 2",
                                               "threads_per_row == threads",
                                               "rows_side_by_side < 4",
                                               "cols > 100",
                                               "grid == per_row || programs_per_sm > 1",
                                               "stages == 3",
                                               "reduction != masked",
                                               "block <= 1024 || residency == reload",
                                               "rows_per_program * threads_per_row <= 1024",
                                               "gamma != hoisted || num_warps > 1",
                                               "rows < 4 && vector_bytes > 2"};
    const std::size_t rules = random() % 5;
    for (std::size_t i = 0; i < rules; ++i) {
        space.rules.push_back(rule_of("r" + std::to_string(i), expressions[random() % expressions.size()], random() % 2 == 0));
    }
    return space;
}

TEST(Plan, CountsAreThoseOfTheDefinition) {
    std::mt19937_64 random(20240607);
    const std::vector<Problem> problems{planned_problem(8192, 4096), planned_problem(1, 128), planned_problem(7, 1000, Mode::backward),
                                        planned_problem(40, 64, Mode::full)};
    BackendTraits traits{Backend::cpu, {{Axis::vector_bytes, "the vector's width is the instruction set's"}}, {}};
    traits.limits.push_back({"cpu.registers",
                             "a row in registers is short",
                             {Axis::residency, Axis::threads_per_row},
                             [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                                 return c.residency != Residency::registers || p.shape.cols <= 16 * c.threads_per_row;
                             }});
    for (int i = 0; i < 60; ++i) {
        const SearchSpace space = random_space(random);
        const Problem& problem = problems[random() % problems.size()];
        const DeviceInfo device = device_of(1 << (2 + random() % 5), 1 + static_cast<int>(random() % 40));
        expect_exact(problem, space, random() % 2 == 0 ? traits : no_traits(), device);
        if (HasFailure()) {
            FAIL() << "space " << i;
        }
    }
}

TEST(Plan, IsExactUnderTheLimitsOfEachBackend) {
    std::mt19937_64 random(7);
    const std::vector<Problem> problems{planned_problem(8192, 4096), planned_problem(64, 512, Mode::backward), planned_problem(1, 409),
                                        planned_problem(32768, 128, Mode::full)};
    for (const char* arch : {"sm_90", "gfx942"}) {
        const DeviceInfo device = describe_architecture(arch);
        for (int i = 0; i < 8; ++i) {
            expect_exact(problems[random() % problems.size()], random_space(random), backend_traits(device.backend), device);
        }
    }
    for (int i = 0; i < 8; ++i) {
        expect_exact(problems[random() % problems.size()], random_space(random), backend_traits(Backend::cpu),
                     device_of(1 << (2 + random() % 3), 8));
    }
}

TEST(Plan, TheLimitAgainstOneConfigurationIsTheOneThatTakesIt) {
    const SearchSpace space{"small",
                            {{Axis::num_warps, {1, 4}},
                             {Axis::threads_per_row, {32, 128}},
                             {Axis::grid, {static_cast<int>(Grid::per_row), static_cast<int>(Grid::persistent_strided)}},
                             {Axis::programs_per_sm, {1, 2}}},
                            {}};
    const Problem problem = planned_problem(4096, 1024);
    std::set<std::string> takers;
    for (const BackendTraits& traits : {no_traits(), backend_traits(Backend::cpu)}) {
        const DeviceInfo device = device_of(32, 132);
        plan_problem(problem, space, traits, device, true, [&](const Configuration& configuration, const RuleTally* by) {
            const std::optional<RuleTally> limit = limit_against(configuration, problem, space, traits, device);
            ASSERT_EQ(limit.has_value(), by != nullptr) << configuration.key();
            if (limit) {
                EXPECT_EQ(limit->rule, by->rule) << configuration.key();
                EXPECT_EQ(limit->reason, by->reason) << configuration.key();
                takers.insert(limit->rule);
            }
        });
    }
    EXPECT_TRUE(takers.contains("redundant.programs_per_sm")) << takers.size();
}

TEST(Plan, OfListedPointsNoneStandsForAnother) {
    const Problem problem = planned_problem(4096, 1024);
    SearchSpace space{
        "two names of one kernel",
        {{Axis::num_warps, {4}}, {Axis::threads_per_row, {128}}, {Axis::programs_per_sm, {1, 2}}, {Axis::vector_bytes, {8, 16}}},
        {}};
    BackendTraits traits = no_traits();
    traits.inert = {{Axis::vector_bytes, "there is no choice of it"}};
    const auto kept = [&] { return plan_problem(problem, space, traits, device_of(32, 132), false, {}).kept; };
    EXPECT_EQ(kept(), 1U);
    space.of_listed_points = true;
    EXPECT_EQ(kept(), 4U);
}

TEST(Plan, CountsElevenBillionPoints) {
    const SearchSpace space = load_space("default");
    const DeviceInfo device = describe_architecture("sm_90");
    const ProblemPlan plan =
        plan_problem(planned_problem(8192, 4096, Mode::backward), space, backend_traits(device.backend), device, false, {});
    EXPECT_GT(plan.points, 10000000000U);
    EXPECT_GT(plan.kept, 10U);
    std::uint64_t sum = plan.kept;
    for (const RuleTally& tally : plan.tallies) {
        sum += tally.pruned;
    }
    EXPECT_EQ(sum, plan.points);
}

// Golden values: TransformerEngine #615 with warps {1, 4, 8, 16} of 64 threads.
TEST(Plan, ThreadsPerRowRuleKeepsAllWhereNothingIsLeft) {
    SearchSpace space{"te", {{Axis::num_warps, {1, 4, 8, 16}}, {Axis::threads_per_row, {64, 256, 512, 1024}}}, {}};
    space.rules = {rule_of("serial", "threads_per_row == threads"), default_threads_per_row_rule()};
    const auto kept = [&](std::int64_t cols) {
        std::set<int> warps;
        const ProblemPlan plan = plan_problem(planned_problem(8192, cols), space, no_traits(), device_of(64, 304), false,
                                              [&](const Configuration& c, const RuleTally*) { warps.insert(c.num_warps); });
        EXPECT_EQ(plan.tallies.back().lifted, cols == 32768);
        return warps;
    };
    EXPECT_EQ(kept(128), (std::set<int>{1, 4}));
    EXPECT_EQ(kept(4096), (std::set<int>{4, 8, 16}));
    EXPECT_EQ(kept(16384), (std::set<int>{16}));
    EXPECT_EQ(kept(32768), (std::set<int>{1, 4, 8, 16}));
}

TEST(Plan, ARuleThatNothingReachesIsNotLifted) {
    SearchSpace space{"s", {{Axis::stages, {1, 2}}}, {rule_of("none", "0"), rule_of("lenient", "0", true)}};
    const ProblemPlan plan = plan_problem(planned_problem(8, 2048), space, no_traits(), device_of(32, 4), false, {});
    EXPECT_EQ(plan.kept, 0U);
    EXPECT_FALSE(plan.tallies.back().lifted);
}

TEST(Plan, AnUndefinedRuleIsAnErrorOnlyWhereAPointReachesIt) {
    SearchSpace space{"s", {{Axis::load_hint, {0, 1}}, {Axis::store_hint, {0, 1}}}, {}};
    const Rule undefined = rule_of("ratio", "1 / (store_hint - default)");
    space.rules = {undefined};
    EXPECT_THROW(plan_problem(planned_problem(8, 2048), space, no_traits(), device_of(32, 4), false, {}), InputError);
    space.rules = {rule_of("streams", "store_hint == streaming"), undefined};
    const ProblemPlan plan = plan_problem(planned_problem(8, 2048), space, no_traits(), device_of(32, 4), false, {});
    EXPECT_EQ(plan.kept, 2U);
    space.rules = {rule_of("streams", "store_hint == streaming"), undefined};
    space.rules.back().keep_all_if_none = true;
    EXPECT_NO_THROW(plan_problem(planned_problem(8, 2048), space, no_traits(), device_of(32, 4), false, {}));
}

TEST(Plan, BalancedIsKeptWhereStridedHasProgramsToSpare) {
    const SearchSpace space{
        "s", {{Axis::grid, {static_cast<int>(Grid::persistent_strided), static_cast<int>(Grid::persistent_balanced)}}}, {}};
    const auto kept = [&](std::int64_t rows) {
        std::set<std::string_view> grids;
        plan_problem(planned_problem(rows, 2048), space, no_traits(), device_of(32, 4), false,
                     [&](const Configuration& c, const RuleTally*) { grids.insert(grid_names.name(c.grid)); });
        return grids;
    };
    // Four programs: 8 rows are two of each, 9 are three of three.
    using Grids = std::set<std::string_view>;
    EXPECT_EQ(kept(3), (Grids{"persistent_strided"}));
    EXPECT_EQ(kept(8), (Grids{"persistent_strided"}));
    EXPECT_EQ(kept(9), (Grids{"persistent_strided", "persistent_balanced"}));
}

TEST(Plan, DxIsDeferredWhereSumsArePublishedAndAProgramHasTheSteps) {
    const SearchSpace space{"s",
                            {{Axis::grid, {static_cast<int>(Grid::persistent_strided)}},
                             {Axis::dgamma, {static_cast<int>(DgammaMethod::partials), static_cast<int>(DgammaMethod::cooperative)}},
                             {Axis::deferred_steps, {0, 1, 2}}},
                            {}};
    const auto kept = [&](std::int64_t rows, Mode mode) {
        std::set<std::string> keys;
        plan_problem(planned_problem(rows, 2048, mode), space, no_traits(), device_of(32, 4), false,
                     [&](const Configuration& c, const RuleTally*) {
                         keys.insert(fmt::format("{}.d{}", dgamma_names.name(c.dgamma), c.deferred_steps));
                     });
        return keys;
    };
    // Four programs of a row each: 12 rows are three steps of each, 8 are two, 4 one.
    using Keys = std::set<std::string>;
    EXPECT_EQ(kept(12, Mode::backward), (Keys{"partials.d0", "cooperative.d0", "cooperative.d1", "cooperative.d2"}));
    EXPECT_EQ(kept(8, Mode::backward), (Keys{"partials.d0", "cooperative.d0", "cooperative.d1"}));
    EXPECT_EQ(kept(4, Mode::backward), (Keys{"partials.d0", "cooperative.d0"}));
    EXPECT_EQ(kept(12, Mode::forward), (Keys{"partials.d0"}));
}

TEST(Plan, PartsOfDgammaAreForProgramsBesideAndAClusterForParts) {
    const SearchSpace space{"s",
                            {{Axis::dgamma, {static_cast<int>(DgammaMethod::partials), static_cast<int>(DgammaMethod::beside)}},
                             {Axis::reduce_parts, {1, 4}},
                             {Axis::reduce_cluster, {1, 4}}},
                            {}};
    std::set<std::string> keys;
    plan_problem(planned_problem(64, 2048, Mode::backward), space, no_traits(), device_of(32, 4), false,
                 [&](const Configuration& c, const RuleTally*) {
                     keys.insert(fmt::format("{}.{}.{}", dgamma_names.name(c.dgamma), c.reduce_parts, c.reduce_cluster));
                 });
    EXPECT_EQ(keys, (std::set<std::string>{"partials.1.1", "beside.1.1", "beside.4.1", "beside.4.4"}));
}

TEST(Plan, ARuleOfTooManyCombinationsIsRefused) {
    const auto up_to = [](Axis axis, int most) {
        AxisValues values{axis, {}};
        for (int value = domain(axis).least; value <= most; ++value) {
            values.values.push_back(value);
        }
        return values;
    };
    SearchSpace space{"s",
                      {{Axis::grid, {static_cast<int>(Grid::persistent_strided)}},
                       up_to(Axis::rows_per_program, 256),
                       up_to(Axis::programs_per_sm, 64),
                       up_to(Axis::load_hint, 2),
                       up_to(Axis::store_hint, 2),
                       up_to(Axis::waves_per_eu, 16),
                       up_to(Axis::stages, 3)},
                      {rule_of("sum", "rows_per_program + programs_per_sm + load_hint + store_hint + waves_per_eu + stages > 0")}};
    const auto plan = [&] { return plan_problem(planned_problem(1 << 20, 2048), space, no_traits(), device_of(32, 4), false, {}); };
    std::string told;
    try {
        plan();
    } catch (const InputError& error) {
        told = error.what();
    }
    EXPECT_NE(told.find("rule 'sum'"), std::string::npos) << told;
    EXPECT_NE(told.find("reads 6 axes"), std::string::npos) << told;
    space.rules.insert(space.rules.begin(), rule_of("first", "waves_per_eu < 4"));
    EXPECT_GT(plan().kept, 0U);
}

TEST(Plan, TheVisitorSeesPointsInAFixedOrder) {
    std::mt19937_64 random(5);
    const SearchSpace space = random_space(random);
    const auto keys = [&] {
        std::vector<std::string> out;
        plan_problem(planned_problem(64, 4096), space, no_traits(), device_of(32, 8), true,
                     [&](const Configuration& c, const RuleTally*) { out.push_back(point_text(c, space)); });
        return out;
    };
    EXPECT_EQ(keys(), keys());
}

SearchSpace ten_million_points() {
    SearchSpace space{"wide", {}, {}};
    space.axes = {{Axis::num_warps, {1, 2, 4, 8, 16}},
                  {Axis::threads_per_row, {16, 32, 64, 128, 256, 512}},
                  {Axis::rows_per_program, {1, 2, 4, 8, 16, 32}},
                  {Axis::block_size, {whole_row, 512, 1024, 2048, 4096, 8192}},
                  {Axis::residency, {0, 1, 2}},
                  {Axis::reduction, {0, 1, 2, 3}},
                  {Axis::grid, {0, 1, 2, 3}},
                  {Axis::programs_per_sm, {1, 2, 4, 8}},
                  {Axis::gamma, {0, 1, 2}},
                  {Axis::vector_bytes, {2, 4, 8, 16}},
                  {Axis::load_hint, {0, 1, 2}},
                  {Axis::store_hint, {0, 1}}};
    space.rules = {default_threads_per_row_rule(), rule_of("work", "rows_per_program * cols <= 65536"),
                   rule_of("hints", "load_hint == default || residency != reload"),
                   rule_of("many", "rows_side_by_side * vector_bytes + programs_per_sm > 3 || gamma == after")};
    return space;
}

TEST(Plan, TenMillionPointsTakeSeconds) {
    const SearchSpace space = ten_million_points();
    ASSERT_GE(space.points(), 10000000U);
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t visited = 0;
    const ProblemPlan plan = plan_problem(planned_problem(8192, 4096, Mode::backward), space, no_traits(), device_of(32, 132), true,
                                          [&](const Configuration&, const RuleTally*) { ++visited; });
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(visited, space.points());
    std::uint64_t sum = plan.kept;
    for (const RuleTally& tally : plan.tallies) {
        sum += tally.pruned;
    }
    EXPECT_EQ(sum, space.points());
    EXPECT_GT(plan.kept, 0U);
    EXPECT_LT(elapsed.count(), 30);  // 3 s in an optimised build; a sanitizer or a busy machine takes longer
}

}  // namespace
}  // namespace normtune
