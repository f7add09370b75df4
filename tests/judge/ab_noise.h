// Pairs as `normtune ab` measures them, with the noise of recorded sweeps: what its power and its false calls are counted on.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "judge/ab.h"
#include "judge/recorded_sweeps.h"

namespace normtune::testing {

/// What a draw adds to the recorded noise.
struct AbCase {
    std::string name;
    double of_a_process = 0;  // standard deviation of what a process adds to one side of a pair, in all its rounds
    double interrupted = 0;   // share of the rounds that something makes 10 to 50% longer
    double step = 0;          // standard deviation of a step of a random walk, from one sample of a round to the next
};

inline const AbCase ab_cases[] = {{"as recorded", 0, 0, 0},
                                  {"a process adds 0.2% to a side", 0.002, 0, 0},
                                  {"a process adds 0.3% to a side", 0.003, 0, 0},
                                  {"5% of the rounds 10-50% longer", 0, 0.05, 0},
                                  {"a clock that wanders by 0.3% between the two", 0, 0, 0.003}};

struct AbPlanted {
    double slowdown = 0;
    std::size_t one_in = 1;  // pair is slower
};

/// Counts of one size of kernels.
struct AbTally {
    std::size_t pairs = 0;
    std::size_t slower = 0;
    std::size_t faster = 0;
    std::size_t ambiguous = 0;

    double share(std::size_t count) const { return pairs == 0 ? 0 : static_cast<double>(count) / static_cast<double>(pairs); }
};

struct AbTallies {
    AbTally planted_short;  // below 10 us
    AbTally planted_long;
    AbTally equal;  // the others
};

class AbNoise {
public:
    /// `folder` holds sweeps of one selection, each of a process of its own.
    explicit AbNoise(const std::string& folder) : sweeps_(recorded_sweeps(folder)) {}

    std::size_t pairs() const { return sweeps_.front().records.size(); }

    /// A pair of each recorded trial, in so many processes of so many rounds; the two of a round are two rounds that followed one another.
    void count(const AbCase& of, const AbPlanted& planted, const CompareSettings& settings, std::uint64_t seed, AbTallies& out) const {
        std::mt19937_64 random(seed);
        std::vector<Record> records;
        std::vector<bool> is_planted;
        records.reserve(2 * pairs());
        for (std::size_t trial = 0; trial < pairs(); ++trial) {
            is_planted.push_back(planted.slowdown > 0 && (trial + seed) % planted.one_in == 0);
            add_pair(of, trial, is_planted.back() ? 1 + planted.slowdown : 1.0, random, records);
        }
        std::vector<AbPair> sides;
        for (std::size_t i = 0; i < records.size(); i += 2) {
            sides.push_back({&records[i], &records[i + 1], true});
        }
        const ResultRows before = ab_rows(sides, &AbPair::before, sweeps_.front().environment, "before");
        const ResultRows after = ab_rows(sides, &AbPair::after, sweeps_.front().environment, "after");
        const Comparison comparison = judge_ab(sides, before, after, settings);
        for (std::size_t i = 0; i < comparison.pairs.size(); ++i) {
            const Pair& pair = comparison.pairs[i];
            constexpr double short_us = 10;
            AbTally& tally = !is_planted[i] ? out.equal : pair.before < short_us ? out.planted_short : out.planted_long;
            ++tally.pairs;
            tally.slower += pair.verdict == Verdict::slower ? 1 : 0;
            tally.faster += pair.verdict == Verdict::faster ? 1 : 0;
            tally.ambiguous += pair.verdict == Verdict::ambiguous ? 1 : 0;
        }
    }

private:
    static constexpr int processes = 8;
    static constexpr int rounds = 12;

    void add_pair(const AbCase& of, std::size_t trial, double factor, std::mt19937_64& random, std::vector<Record>& records) const {
        Record before = sweeps_.front().records[trial];
        before.compile.reset();  // nothing tells that it is the same code
        Record after = before;
        before.measurement->repetitions.clear();
        after.measurement->repetitions.clear();
        for (int process = 1; process <= processes; ++process) {
            std::vector<Round> b;
            std::vector<Round> a;
            draw_process(of, trial, factor, random, b, a);
            if (process == 1) {
                before.measurement->rounds = b;
                after.measurement->rounds = a;
            } else {
                before.measurement->add({process, b, 0, before.measurement->p50_us, 0, 0, 0});
                after.measurement->add({process, a, 0, after.measurement->p50_us, 0, 0, 0});
            }
        }
        records.push_back(std::move(before));
        records.push_back(std::move(after));
    }

    void draw_process(const AbCase& of, std::size_t trial, double factor, std::mt19937_64& random, std::vector<Round>& before,
                      std::vector<Round>& after) const {
        std::normal_distribution<double> normal(0, 1);
        std::uniform_real_distribution<double> uniform(0, 1);
        const std::vector<Round>& recorded = sweeps_[random() % sweeps_.size()].records[trial].measurement->rounds;
        const double of_before = std::exp(of.of_a_process * normal(random));
        const double of_after = factor * std::exp(of.of_a_process * normal(random));
        double walk = 0;
        const auto sample = [&](double us) {
            walk += of.step * normal(random);
            const double longer = uniform(random) < of.interrupted ? 1.1 + 0.4 * uniform(random) : 1.0;
            return Round{us * std::exp(walk) * longer, 5, false, false};
        };
        for (int round = 0; round < rounds; ++round) {
            const std::size_t at = random() % (recorded.size() - 1);
            const std::size_t swapped = random() % 2;
            before.push_back(sample(recorded[at + swapped].median_us * of_before));
            after.push_back(sample(recorded[at + 1 - swapped].median_us * of_after));
        }
    }

    std::vector<Results> sweeps_;
};

}  // namespace normtune::testing
