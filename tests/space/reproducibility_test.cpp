#include "space/reproducibility.h"

#include <gtest/gtest.h>

#include "space/rules.h"

namespace normtune {
namespace {

std::string class_of(const std::string& key, Backend backend) {
    return row_class(Configuration::parse(key), backend);
}

TEST(RowClass, HasWhatSetsTheOrderOfARowsSum) {
    constexpr const char* key = "w4.t128.r8.row.registers.masked.packed.v8";
    EXPECT_EQ(class_of(key, Backend::cuda), "t128.v8.h1.c1");
    EXPECT_EQ(class_of(key, Backend::hip), class_of(key, Backend::cuda));
    EXPECT_EQ(class_of(key, Backend::cpu), "t128.row.registers");
}

TEST(RowClass, LeavesOutWhatOnlySpreadsRows) {
    const std::string one = class_of("w4.t128.r1.row.registers.masked.per_row", Backend::cuda);
    EXPECT_EQ(class_of("w8.t128.r64.row.shared.even.persistent_strided.p2.gamma_hoisted.ld_cg.st_streaming.s2", Backend::cuda), one);
    EXPECT_NE(class_of("w4.t64.r2.row.registers.masked.packed", Backend::cuda), one);
    EXPECT_NE(class_of("w4.t128.r2.row.registers.masked.packed.h2", Backend::cuda), one);
    EXPECT_NE(class_of("w4.t128.r1.row.registers.where.per_row", Backend::cuda), one);
    EXPECT_EQ(class_of("w4.t128.r1.row.registers.guard.per_row", Backend::cuda), one);
    // Bulk copies give a cluster's programs other columns, and change nothing where one program has the row.
    constexpr const char* persistent = "w4.t128.r1.row.registers.masked.persistent_strided.s2";
    EXPECT_EQ(class_of(std::string(persistent) + ".tma_loads", Backend::cuda), class_of(persistent, Backend::cuda));
    EXPECT_NE(class_of(std::string(persistent) + ".c2.tma_loads", Backend::cuda), class_of(std::string(persistent) + ".c2", Backend::cuda));
    EXPECT_EQ(class_of(std::string(persistent) + ".c2.tma_loads", Backend::cuda),
              class_of(std::string(persistent) + ".c2.tma", Backend::cuda));
}

TEST(VaryingDgamma, IsOfAtomicsAndOfACpusThreads) {
    const Problem backward = parse_problem_key("rms_norm/backward/bf16/llama/64x256");
    const Configuration partials = Configuration::parse("w4.t128.r1.row.registers.masked.per_row");
    const Configuration atomic = Configuration::parse("w4.t128.r1.row.registers.masked.per_row.atomic");
    const Configuration split = Configuration::parse("w4.t128.r1.row.registers.masked.per_row.split");
    EXPECT_NE(varies_from_run_to_run(atomic, backward, Backend::cuda).find("dgamma atomic: "), std::string::npos);
    EXPECT_EQ(varies_from_run_to_run(partials, backward, Backend::cuda), "");
    EXPECT_NE(varies_from_run_to_run(partials, backward, Backend::cpu), "");
    EXPECT_EQ(varies_from_run_to_run(split, backward, Backend::cpu), "");
    for (const char* without : {"rms_norm/forward/bf16/llama/64x256", "rms_norm/backward/bf16/llama/64x256/weightless"}) {
        EXPECT_EQ(varies_from_run_to_run(atomic, parse_problem_key(without), Backend::cuda), "") << without;
    }
}

TEST(DeterministicRule, TakesJustThose) {
    for (const Backend backend : {Backend::cuda, Backend::cpu}) {
        for (const char* key : {"rms_norm/forward/bf16/llama/64x256", "rms_norm/backward/bf16/llama/64x256",
                                "rms_norm/full/bf16/llama/64x256", "rms_norm/full/bf16/llama/64x256/weightless"}) {
            const Problem problem = parse_problem_key(key);
            CompiledRule rule(deterministic_rule(backend), problem, DeviceInfo{});
            for (int method = 0; method < static_cast<int>(dgamma_names.names.size()); ++method) {
                Configuration c;
                c.dgamma = static_cast<DgammaMethod>(method);
                EXPECT_EQ(rule.ask(c) == RuleAnswer::prunes, !varies_from_run_to_run(c, problem, backend).empty()) << key << method;
            }
        }
    }
}

}  // namespace
}  // namespace normtune
