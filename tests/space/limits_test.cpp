#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "devices/registry.h"
#include "space/common_limits.h"
#include "space/plan.h"
#include "support/error.h"

namespace normtune {
namespace {

/// Of an axis with names all of them; of another one the values that the exhaustive space lists, or up to 16.
AxisValues many_values(const AxisRow& row, const SearchSpace& exhaustive) {
    AxisValues out{row.axis, {}};
    for (std::size_t i = 0; i < row.domain.names.size(); ++i) {
        out.values.push_back(static_cast<int>(i));
    }
    const auto listed = std::ranges::find(exhaustive.axes, row.axis, &AxisValues::axis);
    if (out.values.empty() && listed != exhaustive.axes.end()) {
        return *listed;
    }
    if (out.values.empty()) {
        for (int value = row.domain.least; value <= std::min(row.domain.most, 16);
             value = row.domain.power_of_two ? 2 * value : value + 1) {
            out.values.push_back(value);
        }
    }
    return out;
}

std::vector<Configuration> drawn_from(const SearchSpace& space, std::size_t count) {
    std::mt19937 random(11);
    std::vector<Configuration> out(count);
    for (Configuration& configuration : out) {
        for (const AxisValues& axis : space.axes) {
            set_axis(configuration, axis.axis, axis.values[random() % axis.values.size()]);
        }
    }
    return out;
}

/// Asks each limit about pairs of configurations that have the same values of the axes that it says it reads, and others of all others.
void expect_answers_from_stated_axes(const SearchSpace& space, const DeviceInfo& device, const Problem& problem) {
    const std::vector<Configuration> drawn = drawn_from(space, 301);
    const BackendTraits traits = backend_traits(device.backend);
    for (const std::vector<BackendLimit>& limits : {inert_limits(space, traits), common_limits(space, traits), traits.limits}) {
        for (const BackendLimit& limit : limits) {
            for (std::size_t i = 0; i + 1 < drawn.size(); ++i) {
                const Configuration& one = drawn[i];
                Configuration other = drawn[i + 1];
                for (const Axis axis : limit.axes) {
                    set_axis(other, axis, axis_value(one, axis));
                }
                const bool admitted = limit.admits(one, problem, device);
                ASSERT_EQ(limit.admits(other, problem, device), admitted)
                    << limit.name << " on " << problem.key() << ", " << device.arch << ": " << one.key() << ' ' << other.key();
                for (const AlikeValues& alike : limit.alike) {
                    const int value = axis_value(drawn[i + 1], alike.axis);
                    Configuration same = one;
                    set_axis(same, alike.axis, value);
                    ASSERT_TRUE(alike.as(value) != alike.as(axis_value(one, alike.axis)) || limit.admits(same, problem, device) == admitted)
                        << limit.name << " on " << problem.key() << ", " << device.arch << ": " << one.key() << ' ' << same.key();
                }
            }
        }
    }
}

TEST(LimitsOfAllBackends, AnswerFromTheAxesThatTheyName) {
    const SearchSpace exhaustive = load_space("exhaustive");
    SearchSpace all{"all", {}, {}};
    SearchSpace without_defaults{"without defaults", {}, {}};  // so that other values stand for those that make no difference
    for (const AxisRow& row : axis_table) {
        AxisValues values = many_values(row, exhaustive);
        ASSERT_GT(values.values.size(), 1U) << row.name;
        all.axes.push_back(values);
        std::erase(values.values, row.standard);
        without_defaults.axes.push_back(values);
    }
    DeviceInfo cpu;
    cpu.arch = "x86-64-avx2";
    cpu.warp_size = 8;
    cpu.compute_units = 8;
    cpu.shared_bytes_per_program = 32768;
    for (const SearchSpace* space : {&all, &without_defaults}) {
        for (const DeviceInfo& device :
             {describe_architecture("sm_80"), describe_architecture("sm_90"), describe_architecture("gfx942"), cpu}) {
            for (const char* key : {"rms_norm/forward/bf16/llama/8192x4096", "rms_norm/backward/bf16/llama/2048x1024",
                                    "fused_add_rms_norm/full/fp32/none/3x409", "fused_add_rms_norm/backward/bf16/llama/4096x16384"}) {
                expect_answers_from_stated_axes(*space, device, parse_problem_key(key));
            }
        }
    }
}

/// Keys that a space of few axes keeps on an H100; where it lists neither, four warps that are all of a row.
std::set<std::string> kept_of(const char* problem, std::vector<AxisValues> axes) {
    const auto add = [&](Axis axis, int value) {
        if (std::ranges::find(axes, axis, &AxisValues::axis) == axes.end()) {
            axes.push_back({axis, {value}});
        }
    };
    add(Axis::num_warps, 4);
    add(Axis::threads_per_row, 128);
    const DeviceInfo device = describe_architecture("sm_90");
    std::set<std::string> keys;
    plan_problem(parse_problem_key(problem), {"few", std::move(axes), {}}, backend_traits(device.backend), device, false,
                 [&](const Configuration& c, const RuleTally*) { keys.insert(c.key()); });
    return keys;
}

using KeptKeys = std::set<std::string>;

TEST(LimitsOfAllBackends, WhatStandsForAnotherIsItselfLegal) {
    const int shared = static_cast<int>(Residency::shared);
    const int after = static_cast<int>(GammaPlacement::after);
    const int before = static_cast<int>(GammaPlacement::before);
    const int hoisted = static_cast<int>(GammaPlacement::hoisted);
    // 128 threads take 1,024 columns at once: blocks of 256 are none.
    const char* narrow = "rms_norm/forward/bf16/llama/512x256";
    EXPECT_EQ(kept_of(narrow, {{Axis::block_size, {256, 1024, 2048}}}), (KeptKeys{"w4.t128.r1.b1024.registers.masked.per_row"}));
    EXPECT_EQ(kept_of(narrow, {{Axis::block_size, {whole_row, 256, 1024, 2048}}}), (KeptKeys{"w4.t128.r1.row.registers.masked.per_row"}));
    EXPECT_EQ(kept_of(narrow, {{Axis::threads_per_row, {32}}, {Axis::block_size, {256, 1024, 2048}}, {Axis::num_warps, {1}}}),
              (KeptKeys{"w1.t32.r1.b256.registers.masked.per_row"}));
    // Two rows are no program's whose threads hold four at once.
    const std::vector<AxisValues> packed{{Axis::grid, {static_cast<int>(Grid::packed)}}, {Axis::rows_per_program, {2, 4, 8}}};
    std::vector<AxisValues> tiles = packed;
    tiles.push_back({Axis::tile_rows, {4}});
    EXPECT_EQ(kept_of("rms_norm/forward/bf16/llama/2x1024", tiles), (KeptKeys{"w4.t128.r4.row.registers.masked.packed.h4"}));
    EXPECT_EQ(kept_of("rms_norm/forward/bf16/llama/2x1024", packed), (KeptKeys{"w4.t128.r2.row.registers.masked.packed"}));
    // Of rows in blocks gamma is hoisted into shared memory, or read after the sum.
    const char* wide = "rms_norm/forward/bf16/llama/512x4096";
    const std::string blocks = "w4.t128.r1.b1024.shared.masked.per_row";
    std::vector<AxisValues> gammas{{Axis::block_size, {1024}}, {Axis::residency, {shared}}, {Axis::gamma, {before, hoisted}}};
    EXPECT_EQ(kept_of(wide, gammas), (KeptKeys{blocks + ".gamma_hoisted"}));
    gammas.back().values.push_back(after);
    EXPECT_EQ(kept_of(wide, gammas), (KeptKeys{blocks}));
    gammas.front().values = {whole_row};
    gammas.back().values = {before, hoisted};
    EXPECT_EQ(kept_of(wide, gammas), (KeptKeys{"w4.t128.r1.row.shared.masked.per_row.gamma_before"}));
}

TEST(LimitsOfAllBackends, StepsAreOfTheRowsThatThereAre) {
    const DeviceInfo device = describe_architecture("sm_90");  // 132 units
    const auto steps = [&](const char* rows, const char* configuration) {
        return serial_passes(Configuration::parse(configuration),
                             parse_problem_key(fmt::format("rms_norm/forward/bf16/llama/{}x1024", rows)), device);
    };
    EXPECT_EQ(steps("8192", "w4.t128.r8.row.registers.masked.packed"), 8);
    EXPECT_EQ(steps("8192", "w4.t128.r8.row.registers.masked.packed.h2"), 4);
    EXPECT_EQ(steps("8192", "w8.t128.r8.row.registers.masked.packed.h2"), 2);
    EXPECT_EQ(steps("2", "w4.t128.r12.row.registers.masked.packed"), 2);
    EXPECT_EQ(steps("14", "w4.t128.r12.row.registers.masked.packed"), 12);
    EXPECT_EQ(steps("10", "w4.t128.r16.row.registers.masked.persistent_contiguous"), 10);
    EXPECT_EQ(steps("1000", "w4.t128.r4.row.registers.masked.persistent_contiguous"), 8);
    EXPECT_EQ(steps("528", "w4.t128.r4.row.registers.masked.persistent_strided"), 4);
    EXPECT_EQ(steps("529", "w4.t128.r4.row.registers.masked.persistent_strided"), 5) << "the first program has the last row";
    EXPECT_EQ(steps("533", "w4.t128.r4.row.registers.masked.persistent_strided"), 8) << "and here the second";
    EXPECT_EQ(steps("529", "w4.t128.r4.row.registers.masked.persistent_balanced"), 8) << "67 programs of two groups, but for the last";
}

TEST(LimitsOfAllBackends, DxWaitsForNoMoreStepsThanThereAreRows) {
    const KeptKeys kept = kept_of("rms_norm/backward/bf16/llama/2x1024", {{Axis::grid, {static_cast<int>(Grid::persistent_strided)}},
                                                                          {Axis::rows_per_program, {12}},
                                                                          {Axis::dgamma, {static_cast<int>(DgammaMethod::cooperative)}},
                                                                          {Axis::deferred_steps, {0, 1, 5}}});
    const std::string key = "w4.t128.r12.row.registers.masked.persistent_strided.cooperative";
    EXPECT_EQ(kept, (KeptKeys{key, key + ".d1"}));
}

TEST(LimitsOfAllBackends, ResultsByBulkCopiesDoNotWait) {
    const auto kept = [](Staging staging, DgammaMethod method) {
        return kept_of("rms_norm/backward/bf16/llama/8192x1024", {{Axis::residency, {static_cast<int>(Residency::shared)}},
                                                                  {Axis::grid, {static_cast<int>(Grid::persistent_strided)}},
                                                                  {Axis::stages, {3}},
                                                                  {Axis::staging, {static_cast<int>(staging)}},
                                                                  {Axis::dgamma, {static_cast<int>(method)}},
                                                                  {Axis::deferred_steps, {0, 2}}})
            .size();
    };
    EXPECT_EQ(kept(Staging::tma, DgammaMethod::cooperative), 1U);
    EXPECT_EQ(kept(Staging::tma, DgammaMethod::published), 1U);
    EXPECT_EQ(kept(Staging::tma_loads, DgammaMethod::cooperative), 2U);
    EXPECT_EQ(kept(Staging::tma, DgammaMethod::partials), 1U);
}

TEST(LimitsOfAllBackends, ProgramsBesideReduceWithTheirOwnWarps) {
    const auto kept = [](DgammaMethod method) {
        return kept_of("rms_norm/backward/bf16/llama/512x1024", {{Axis::num_warps, {8}},
                                                                 {Axis::threads_per_row, {256}},
                                                                 {Axis::grid, {static_cast<int>(Grid::persistent_strided)}},
                                                                 {Axis::dgamma, {static_cast<int>(method)}},
                                                                 {Axis::reduce_warps, {1, 2, 4, 8}}});
    };
    EXPECT_EQ(kept(DgammaMethod::beside), (KeptKeys{"w8.t256.r1.row.registers.masked.persistent_strided.beside"}));
    EXPECT_GT(kept(DgammaMethod::partials).size(), 1U);
}

TEST(LimitsOfAllBackends, GpusCountColumnsIn32Bits) {
    for (const auto& [arch, configuration] : std::vector<std::pair<const char*, const char*>>{
             {"sm_90", "w4.t128.r1.row.reload.masked.per_row"}, {"gfx942", "w2.t128.r1.row.reload.masked.per_row"}}) {
        const DeviceInfo device = describe_architecture(arch);
        const auto taker = [&, c = Configuration::parse(configuration)](const char* key) {
            const auto limit = limit_against(c, parse_problem_key(key), {"one", {}, {}}, backend_traits(device.backend), device);
            return limit ? limit->rule : "";
        };
        EXPECT_EQ(taker("rms_norm/forward/bf16/llama/2x4294971392"), "gpu.columns") << arch;
        EXPECT_EQ(taker("rms_norm/forward/bf16/llama/2x8/stride2000000000"), "gpu.columns") << arch;
        EXPECT_EQ(taker("rms_norm/forward/bf16/llama/2x1024/stride1073741816"), "") << arch;
    }
    EXPECT_EQ(kept_of("rms_norm/forward/bf16/llama/2x4294971392", {{Axis::stages, {1, 2}}}), KeptKeys{});
}

TEST(LimitsOfAllBackends, OneThatIsAskedTooMuchIsRefused) {
    const auto up_to = [](Axis axis, int first, int last) {
        AxisValues values{axis, {}};
        for (int value = first; value <= last; ++value) {
            values.values.push_back(value);
        }
        return values;
    };
    const std::vector<AxisValues> few{{Axis::grid,
                                       {static_cast<int>(Grid::persistent_strided), static_cast<int>(Grid::persistent_contiguous),
                                        static_cast<int>(Grid::persistent_balanced)}},
                                      {Axis::cluster, {1, 2, 4, 8, 16}},
                                      up_to(Axis::rows_per_program, 1, 256)};
    std::vector<AxisValues> many = few;
    many.push_back(up_to(Axis::programs_per_sm, 1, 9));
    many.push_back(up_to(Axis::unit_margin, 0, 130));
    std::string told;
    try {
        kept_of("rms_norm/forward/bf16/llama/1048576x8192", many);
    } catch (const InputError& error) {
        told = error.what();
    }
    EXPECT_NE(told.find("space 'few': the limit redundant.programs_per_sm.rows"), std::string::npos) << told;
    EXPECT_NE(told.find("list fewer values"), std::string::npos) << told;
    EXPECT_FALSE(kept_of("rms_norm/forward/bf16/llama/1048576x8192", few).empty());
}

}  // namespace
}  // namespace normtune
