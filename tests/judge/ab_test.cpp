// Two versions in the same rounds: verdicts on planted differences, and on rounds and processes that are not whole.
#include "judge/ab.h"

#include <gtest/gtest.h>

#include "judge/ab_noise.h"
#include "support/sanitized.h"

namespace normtune {
namespace {

using testing::AbCase;
using testing::AbNoise;
using testing::AbTallies;

CompareSettings settings() {
    CompareSettings out;
    out.threshold = 0.005;
    out.margin = 0.005;
    return out;
}

std::string recorded(const std::string& name) {
    return std::string(NORMTUNE_SOURCE_DIR) + "/tests/data/repeated/" + name;
}

Record trial(const std::string& key, double us, int processes = 8, int rounds = 12) {
    Record record;
    record.problem = parse_problem_key("rms_norm/forward/bf16/llama/8192x4096");
    record.candidate = Candidate::named("kernel", key);
    Measurement& m = record.measurement.emplace();
    m.p50_us = us;
    m.memory_bytes = 1 << 20;
    for (int process = 1; process <= processes; ++process) {
        std::vector<Round> all;
        for (int round = 0; round < rounds; ++round) {
            // Both sides share what a round and a process do.
            all.push_back(
                {us * (1 + 0.02 * ((round * 7 + process) % 5) + 0.0005 * ((round + process + (us > 20 ? 1 : 0)) % 3)), 5, false, false});
        }
        if (process == 1) {
            m.rounds = all;
        } else {
            m.add({process, all, us, us, us, 0, 0});
        }
    }
    return record;
}

struct Judged {
    explicit Judged(std::vector<AbPair> of, const CompareSettings& with = settings())
        : pairs(std::move(of)),
          before(ab_rows(pairs, &AbPair::before, {}, "before")),
          after(ab_rows(pairs, &AbPair::after, {}, "after")),
          comparison(judge_ab(pairs, before, after, with)) {}

    std::vector<AbPair> pairs;
    ResultRows before;
    ResultRows after;
    Comparison comparison;
};

TEST(Ab, OnRecordedNoiseOnePercentIsFoundAndEqualCodeIsNotCalled) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    AbTallies equal;
    AbTallies one;
    AbTallies two;
    AbTallies three;
    for (const std::string name : {"h100_a", "h100_b"}) {
        const AbNoise noise(recorded(name));
        ASSERT_GE(noise.pairs(), 40U);
        for (const AbCase& of : testing::ab_cases) {
            for (std::uint64_t seed = 0; seed < 3; ++seed) {
                noise.count(of, {}, settings(), seed, equal);
            }
        }
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            noise.count(testing::ab_cases[0], {0.01, 2}, settings(), seed, one);
            noise.count(testing::ab_cases[0], {0.02, 2}, settings(), seed, two);
            noise.count(testing::ab_cases[0], {0.03, 2}, settings(), seed, three);
        }
    }
    EXPECT_LE(equal.equal.share(equal.equal.slower + equal.equal.faster), 0.005);
    EXPECT_GE(one.planted_long.share(one.planted_long.slower), 0.95);
    EXPECT_GE(two.planted_short.share(two.planted_short.slower), 0.95);
    EXPECT_GE(three.planted_long.share(three.planted_long.slower), 0.99);
    EXPECT_GE(one.planted_long.pairs, 40U);
    EXPECT_GE(two.planted_short.pairs, 10U);
}

TEST(Ab, WhatBothSidesShareIsNoDifference) {
    const Record before = trial("norm", 20);
    const Record equal = trial("norm", 20);
    const Record slower = trial("norm", 20.4);
    const Judged judged({{&before, &equal, false}, {&before, &slower, false}, {&slower, &before, false}});
    EXPECT_EQ(judged.comparison.pairs[0].verdict, Verdict::same);
    EXPECT_EQ(judged.comparison.pairs[1].verdict, Verdict::slower);
    EXPECT_NEAR(judged.comparison.pairs[1].ratio, 1.02, 0.001);
    EXPECT_EQ(judged.comparison.pairs[2].verdict, Verdict::faster);
    EXPECT_EQ(judged.comparison.pairs[0].evidence, Evidence::paired);
    EXPECT_EQ(judged.comparison.processes[0], 8U);
    EXPECT_GT(judged.comparison.pairs[1].low, 1.015);
}

TEST(Ab, RoundsThatWereThrottledOnEitherSideCountOnNeither) {
    Record before = trial("norm", 20);
    Record after = trial("norm", 20);
    for (std::size_t i = 0; i < 4; ++i) {
        after.measurement->rounds[i].throttled = true;
        after.measurement->rounds[i].median_us *= 2;
        before.measurement->repetitions[0].rounds[i + 6].throttled = true;
        before.measurement->repetitions[0].rounds[i + 6].median_us *= 3;
    }
    EXPECT_NEAR(Judged({{&before, &after, false}}).comparison.pairs[0].ratio, 1, 0.001);
}

TEST(Ab, OnlyProcessesThatMeasuredBothCount) {
    Record before = trial("norm", 20);
    Record after = trial("norm", 20.4);
    after.measurement->repetitions.erase(after.measurement->repetitions.begin(), after.measurement->repetitions.begin() + 3);
    before.measurement->repetitions.pop_back();
    const Judged some({{&before, &after, false}});
    EXPECT_EQ(some.comparison.processes[0], 4U);
    EXPECT_NEAR(some.comparison.pairs[0].ratio, 1.02, 0.001);
    after.measurement->repetitions.clear();  // one process cannot say what processes differ by
    EXPECT_EQ(Judged({{&before, &after, false}}).comparison.pairs[0].verdict, Verdict::ambiguous);
}

TEST(Ab, TheSameCodeIsNeitherSlowerNorFasterAndCountsForNoCorrection) {
    Record before = trial("norm", 20);
    Record after = trial("norm", 22);
    before.compile.emplace().code_hash = std::string(32, 'a');
    after.compile = before.compile;
    EXPECT_EQ(Judged({{&before, &after, true}}).comparison.pairs[0].verdict, Verdict::same_code);
    EXPECT_EQ(Judged({{&before, &after, false}}).comparison.pairs[0].verdict, Verdict::slower);
    after.compile->code_hash = std::string(32, 'b');
    EXPECT_EQ(Judged({{&before, &after, true}}).comparison.pairs[0].verdict, Verdict::slower);
}

TEST(Ab, OfFewPairsNothingIsKnownBesideTheirOwnProcesses) {
    std::vector<Record> before;
    std::vector<Record> after;
    for (int i = 0; i < 20; ++i) {
        before.push_back(trial("norm" + std::to_string(i), 20));
        after.push_back(trial("norm" + std::to_string(i), 20.02));
    }
    std::vector<AbPair> pairs;
    for (std::size_t i = 0; i < before.size(); ++i) {
        pairs.push_back({&before[i], &after[i], false});
    }
    const Comparison many = Judged(pairs).comparison;
    EXPECT_GT(many.usual_degrees, 0);
    Comparison few = Judged({pairs[0]}).comparison;
    EXPECT_EQ(few.usual_degrees, 0);
    few.coverage = 0.95;
    few.of_a_run = 0.01;
    Comparison same = many;
    same.coverage = 0.95;
    same.of_a_run = 0.01;
    // With two processes, and one degree of freedom, (12.71 + 1.645) 0.01 = 0.14 is beyond log 1.06 = 0.058.
    EXPECT_GT(few.runs_to_find(0.06), 2);
    EXPECT_EQ(same.runs_to_find(0.06), 2);
}

TEST(Ab, ASideThatFailedIsMissingOrNew) {
    const Record good = trial("norm", 20);
    Record bad = trial("norm", 20);
    bad.measurement.reset();
    bad.outcome = Outcome::incorrect;
    bad.reason = "y is off";
    const Judged judged(
        {{&good, &bad, false}, {&bad, &good, false}, {&bad, &bad, false}, {&good, nullptr, false}, {nullptr, &good, false}});
    ASSERT_EQ(judged.comparison.pairs.size(), 4U);
    EXPECT_EQ(judged.comparison.failed_both, 1U);
    EXPECT_EQ(judged.comparison.pairs[0].verdict, Verdict::missing);
    EXPECT_EQ(judged.comparison.note(judged.comparison.pairs[0]), "candidate incorrect: y is off");
    EXPECT_EQ(judged.comparison.pairs[1].verdict, Verdict::new_);
    EXPECT_EQ(judged.comparison.pairs[2].verdict, Verdict::missing);
    EXPECT_EQ(judged.comparison.pairs[2].candidate, no_row);
    EXPECT_EQ(judged.comparison.pairs[3].verdict, Verdict::new_);
}

TEST(Ab, MemoryIsComparedExactly) {
    const Record before = trial("norm", 20);
    Record after = trial("norm", 20);
    after.measurement->memory_bytes += 1024;
    CompareSettings memory = settings();
    memory.metric = Metric::memory;
    memory.threshold = 0;
    const Judged judged({{&before, &after, false}}, memory);
    EXPECT_EQ(judged.comparison.pairs[0].evidence, Evidence::exact);
    EXPECT_EQ(judged.comparison.pairs[0].verdict, Verdict::slower);
}

}  // namespace
}  // namespace normtune
