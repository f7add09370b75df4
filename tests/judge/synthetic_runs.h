// Sweeps with noise that is known: what the rates of false alarms and of found slowdowns are counted on.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "measure/statistics.h"
#include "measure/stop_rule.h"
#include "store/result_rows.h"

namespace normtune::testing {

enum class NoiseShape { normal, skewed, drifting, bimodal, outliers };
inline constexpr NameTable<NoiseShape, 5> noise_shape_names{{"normal", "skewed", "drifting", "bimodal", "outliers"}};

struct SyntheticSweep {
    NoiseShape noise = NoiseShape::normal;
    int problems = 40;
    int configurations = 10;
    double round_deviation = 0.006;  // of a round's median, relative
    double run_deviation = 0.002;    // of a trial between runs, and of the whole device between runs
    std::uint64_t seed = 0;          // of the noise; the true times are the same for all seeds
    /// Factor on a trial's true time: what is planted.
    std::function<double(int problem, int configuration)> planted = [](int, int) { return 1.0; };
};

/// A round's median over its true value.
inline double round_noise(NoiseShape shape, double deviation, int round, std::mt19937_64& random) {
    std::normal_distribution<double> normal(0, deviation);
    std::uniform_real_distribution<double> uniform(0, 1);
    switch (shape) {
        case NoiseShape::normal:
            break;
        case NoiseShape::skewed:
            return 1 + std::exponential_distribution<double>(1 / deviation)(random);
        case NoiseShape::drifting:  // the device warms up by three deviations over a run
            return (1 + 3 * deviation * (1 - std::exp(-round / 4.0))) * std::exp(normal(random) / 2);
        case NoiseShape::bimodal:  // two states of the clock
            return std::exp(normal(random) / 3) * (uniform(random) < 0.3 ? 1 + 3 * deviation : 1.0);
        case NoiseShape::outliers:
            return std::exp(normal(random)) * (uniform(random) < 0.05 ? 1.1 + 0.4 * uniform(random) : 1.0);
    }
    return std::exp(normal(random));
}

/// Rounds as a sweep takes them, until its stop rule has enough.
inline std::vector<double> synthetic_rounds(const SyntheticSweep& sweep, double true_us, std::mt19937_64& random) {
    const StopRule rule;
    std::vector<double> rounds;
    do {
        rounds.push_back(true_us * round_noise(sweep.noise, sweep.round_deviation, static_cast<int>(rounds.size()), random));
    } while (rule.decide(rounds, 0) == StopReason::none);
    return rounds;
}

inline Results synthetic_results(const SyntheticSweep& sweep) {
    std::mt19937_64 truth(20261121);
    std::mt19937_64 random(sweep.seed * 1000003 + static_cast<std::uint64_t>(sweep.noise));
    std::normal_distribution<double> between(0, sweep.run_deviation);
    std::uniform_real_distribution<double> exponent(1.05, 3.2);  // 11 us … 1.6 ms
    std::uniform_real_distribution<double> spread(1.0, 1.8);
    Results results;
    results.environment.device.driver = "synthetic";
    const double device = std::exp(between(random));
    for (int p = 0; p < sweep.problems; ++p) {
        Problem problem;
        problem.shape = {p + 1, 4096, 4096};
        problem.operation.mode = p % 2 == 0 ? Mode::forward : Mode::backward;
        problem.uses = {{"model", p % 3 == 0 ? "hidden" : "q_norm", p + 1}};
        const double limit_us = std::pow(10, exponent(truth));
        const double copy_us = median(synthetic_rounds(sweep, limit_us * device * std::exp(between(random)), random));
        for (int c = 0; c < sweep.configurations; ++c) {
            Record record;
            record.timestamp = "2026-11-20T23:59:59Z";
            record.device = "synthetic device";
            record.problem = problem;
            record.candidate.configuration()->rows_per_program = c + 1;
            const double true_us = limit_us * spread(truth) * device * std::exp(between(random)) * sweep.planted(p, c);
            Measurement m;
            const std::vector<double> rounds = synthetic_rounds(sweep, true_us, random);
            for (const double us : rounds) {
                m.rounds.push_back({us, 5, false});
            }
            m.p50_us = median(rounds);
            m.p20_us = quantile(rounds, 0.2);
            m.p80_us = quantile(rounds, 0.8);
            m.limit_us = copy_us;
            m.memory_bytes = std::int64_t{1} << 20;
            m.timer = "graph";
            record.measurement = m;
            results.records.push_back(record);
        }
    }
    return results;
}

/// Six problems of five configurations each.
inline SyntheticSweep six_problems(std::uint64_t seed) {
    SyntheticSweep sweep;
    sweep.problems = 6;
    sweep.configurations = 5;
    sweep.seed = seed;
    return sweep;
}

inline ResultRows synthetic_rows(const SyntheticSweep& sweep) {
    return rows_of(synthetic_results(sweep), "synthetic");
}

}  // namespace normtune::testing
