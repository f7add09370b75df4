#include "run/sweep_text.h"

#include <gtest/gtest.h>

#include <set>

#include "support/error.h"

namespace normtune {
namespace {

SweepOptions full_options() {
    SweepOptions options;
    Problem problem;
    problem.shape = {32, 512, 576};
    problem.operation.mode = Mode::backward;
    problem.operation.eps = 1e-5;
    problem.uses = {{"DeepSeek-V3", "kv_a", 32}};
    options.problems = {problem};
    options.space.name = "mine";
    options.space.axes = {{Axis::num_warps, {1, 4}}, {Axis::block_size, {whole_row, 1024}}, {Axis::dgamma, {0, 2}}};
    options.space.rules = {{"narrow", "cols < 100000", true, "mine.yaml", 7}};
    options.backend = Backend::replay;
    options.ordinals = {1, 3};
    options.replay_script = "script.yaml";
    options.strategy = find_strategy("random");
    options.most_trials_per_problem = 12;
    options.budget_s = 30;
    options.seed = UINT64_MAX;
    options.cold = false;
    options.over_cache = 16;
    options.processes = 3;
    options.lock_clock_mhz = 1410;
    options.verify_only = true;
    options.stop_rule = {7, 30, 0.02, 5e6};
    options.samples_per_round = 9;
    options.round_time_us = 1e4;
    options.trial_timeout_s = 5;
    return options;
}

TEST(SweepText, ComesBackAsItWas) {
    const SweepOptions options = full_options();
    const SweepOptions back = sweep_from_text(sweep_to_text(options));
    EXPECT_EQ(sweep_to_text(back), sweep_to_text(options));
    EXPECT_EQ(back.problems.at(0).uses, options.problems.at(0).uses);
    EXPECT_EQ(back.space.axes.at(1).values, (std::vector<int>{whole_row, 1024}));
    EXPECT_TRUE(back.space.rules.at(0).keep_all_if_none);
    EXPECT_EQ(back.seed, UINT64_MAX);
    EXPECT_EQ(back.stop_rule.most_rounds, 30);
    EXPECT_EQ(back.budget_s, 30);
    EXPECT_EQ(back.over_cache, 16);
    EXPECT_EQ(back.processes, 3);
    EXPECT_EQ(back.lock_clock_mhz, 1410);
    EXPECT_EQ(back.ordinals, (std::vector<int>{1, 3}));
}

TEST(SweepText, WhatAStoredRowAnswersDependsOnClassesAndClocks) {
    SweepOptions options;
    std::set<std::string> digests{measuring_digest(options)};
    options.deterministic = true;
    digests.insert(measuring_digest(options));
    options.batch_invariant = true;
    digests.insert(measuring_digest(options));
    options.lock_clock_mhz = 1200;
    digests.insert(measuring_digest(options));
    options.lock_clock_mhz = 1410;
    digests.insert(measuring_digest(options));
    EXPECT_EQ(digests.size(), 5U);
}

TEST(SweepText, OfAnOlderJournalHasOneDevice) {
    std::string text = sweep_to_text(full_options());
    text.replace(text.find("\"devices\":[1,3]"), 15, "\"device\":1");
    EXPECT_EQ(sweep_from_text(text).ordinals, std::vector<int>{1});
    SweepOptions options = full_options();
    options.ordinals = {1};
    EXPECT_NO_THROW(require_same_sweep("results/a", text, options));
}

TEST(SweepText, NamesEveryThingThatDiffers) {
    const std::string journal = sweep_to_text(full_options());
    SweepOptions options = full_options();
    options.budget_s = 0;  // may differ
    options.trial_timeout_s = 90;
    EXPECT_NO_THROW(require_same_sweep("results/a", journal, options));
    options.cold = true;
    options.processes = 1;  // which its text does not say
    options.space.axes.pop_back();
    try {
        require_same_sweep("results/a", journal, options);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "results/a: is a sweep of another selection, which differs in cold (there false, now true), "
                     "processes (there 3, now 1), space; resume it with normtune verify --resume results/a alone, or start a new one in "
                     "another folder");
    }
}

TEST(SweepText, NamesTheCommandThatGoesOn) {
    const auto refusal = [](const SweepOptions& began, const SweepOptions& now) -> std::string {
        try {
            require_same_sweep("my runs/a", sweep_to_text(began), now);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    const SweepOptions verified = full_options();
    SweepOptions measured = full_options();
    measured.verify_only = false;
    EXPECT_NE(refusal(verified, measured).find("; resume it with normtune verify --resume 'my runs/a' alone, or start"), std::string::npos)
        << refusal(verified, measured);
    EXPECT_NE(refusal(measured, verified).find("; resume it with normtune sweep --resume 'my runs/a' alone, or start"), std::string::npos)
        << refusal(measured, verified);
    SweepOptions compared = measured;  // by ab, which is not resumed
    compared.pairs.add("rms_norm/forward/bf16/llama/8x64", "before:norm", "after:norm");
    EXPECT_NE(refusal(compared, measured).find("now false); start a new one in another folder"), std::string::npos)
        << refusal(compared, measured);
}

TEST(SweepText, NamesWhatTheJournalAloneHas) {
    SweepOptions began = full_options();
    began.candidates.only = "mine:norm.BLOCK=256";
    began.pairs.add("rms_norm/forward/bf16/llama/8x64", "before:norm", "after:norm");
    try {
        require_same_sweep("results/a", sweep_to_text(began), full_options());
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what())
                      .find("differs in candidate (there \"mine:norm.BLOCK=256\", now \"\"), side_by_side (there true, now false); "),
                  std::string::npos)
            << error.what();
    }
}

TEST(SweepText, WhatIsNoSelectionIsAnError) {
    EXPECT_THROW(sweep_from_text(""), InputError);
    EXPECT_THROW(sweep_from_text("{}"), InputError);
    std::string text = sweep_to_text(full_options());
    text.replace(text.find("\"num_warps\""), 11, "\"num_wraps\"");
    EXPECT_THROW(sweep_from_text(text), InputError);
}

}  // namespace
}  // namespace normtune
