// Recorded sweeps of one selection with disturbances that are known: what the rates of false alarms and of found slowdowns are counted on.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "judge/comparison.h"
#include "judge/recorded_sweeps.h"

namespace normtune::testing {

enum class Disturbance { none, drift, trials, rounds, states, floor };
inline constexpr NameTable<Disturbance, 6> disturbance_names{{"as recorded", "all of one side 0.3% slower", "0.3% a trial and run",
                                                              "rounds that wander by 0.9% (AR(1), 0.9)", "15% of the trials 3% slower",
                                                              "a floor 0.17 us higher"}};

/// What compare may know beside the times.
struct KnownOfRuns {
    std::size_t runs = 1;  // a side
    bool codes = false;    // every second trial is of the same code
};

struct Planted {
    double slowdown = 0;
    int one_in = 10;         // of the trials that are not of the same code
    bool both_ways = false;  // and as many are faster by as much
};

class DisturbedRuns {
public:
    /// `folder` holds sweeps of one selection, one after the other.
    explicit DisturbedRuns(const std::string& folder) : sweeps_(recorded_sweeps(folder)) {}

    /// Two sides of fresh draws: the baseline of the 1st, 3rd, … recorded sweep, the candidate of the others.
    std::pair<ResultRows, ResultRows> draw(Disturbance disturbance, const KnownOfRuns& known, const Planted& planted,
                                           std::uint64_t seed) const {
        std::mt19937_64 random(seed * 1000003 + static_cast<std::uint64_t>(disturbance));
        std::array<std::vector<Results>, 2> sides;
        for (std::size_t run = 0; run < known.runs; ++run) {
            for (std::size_t side = 0; side < 2; ++side) {
                Results results = sweeps_[(seed + 2 * run + side) % sweeps_.size()];
                for (std::size_t trial = 0; trial < results.records.size(); ++trial) {
                    Record& record = results.records[trial];
                    record.compile.emplace().code_hash =
                        known.codes ? std::string(32, same_code(known, trial) || side == 0 ? 'a' : 'b') : "";
                    if (record.measurement) {
                        disturb(*record.measurement, disturbance, side,
                                side == 1 && is_planted(trial, known, planted, seed)                            ? 1 + planted.slowdown
                                : side == 1 && planted.both_ways && is_planted(trial, known, planted, seed + 1) ? 1 / (1 + planted.slowdown)
                                                                                                                : 1.0,
                                random);
                    }
                }
                sides[side].push_back(std::move(results));
            }
        }
        return {rows_of_runs(sides[0], "before"), rows_of_runs(sides[1], "after")};
    }

    /// Was something planted in the pair?
    bool is_planted(const Pair& pair, const KnownOfRuns& known, const Planted& planted, std::uint64_t seed) const {
        return is_planted(pair.baseline % sweeps_.front().records.size(), known, planted, seed);
    }

private:
    static bool is_planted(std::size_t trial, const KnownOfRuns& known, const Planted& planted, std::uint64_t seed) {
        return planted.slowdown > 0 && !same_code(known, trial) && (trial / 2 + seed) % static_cast<std::size_t>(planted.one_in) == 0;
    }
    static bool same_code(const KnownOfRuns& known, std::size_t trial) { return known.codes && trial % 2 == 1; }

    static void disturb(Measurement& m, Disturbance disturbance, std::size_t side, double planted, std::mt19937_64& random) {
        std::normal_distribution<double> normal(0, 1);
        std::uniform_real_distribution<double> uniform(0, 1);
        double factor = planted;
        double more_us = 0;
        switch (disturbance) {
            case Disturbance::drift:
                factor *= side == 1 ? 1.003 : 1.0;
                m.limit_us *= side == 1 ? 1.003 : 1.0;
                break;
            case Disturbance::trials:
                factor *= std::exp(0.003 * normal(random));
                break;
            case Disturbance::states:
                factor *= uniform(random) < 0.15 ? 1.03 : 1.0;
                break;
            case Disturbance::floor:
                more_us = side == 1 ? 0.17 : 0.0;
                m.limit_us += more_us;
                m.floor_us += more_us;
                break;
            case Disturbance::none:
            case Disturbance::rounds:
                break;
        }
        constexpr double correlation = 0.9;
        double wandering = normal(random);
        for (Round& round : m.rounds) {
            const double wander = disturbance == Disturbance::rounds ? std::exp(0.009 * wandering) : 1.0;
            wandering = correlation * wandering + std::sqrt(1 - correlation * correlation) * normal(random);
            round.median_us = round.median_us * factor * wander + more_us;
        }
        for (double* const us : {&m.p20_us, &m.p50_us, &m.p80_us}) {
            *us = *us * factor + more_us;
        }
    }

    std::vector<Results> sweeps_;
};

}  // namespace normtune::testing
