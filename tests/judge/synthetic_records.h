// Made-up results for the tests of audit and fit.
#pragma once

#include <string>
#include <vector>

#include "judge/problem_ranking.h"

namespace normtune::testing {

inline constexpr const char* narrow = "w4.t128.r1.row.registers.masked.per_row";
inline constexpr const char* wide = "w16.t512.r1.row.registers.masked.per_row";

inline Problem problem_of(std::int64_t rows, std::int64_t cols, Mode mode = Mode::forward) {
    Problem problem;
    problem.shape = {rows, cols, cols};
    problem.operation.mode = mode;
    problem.uses = {{"Made-1B", cols <= 128 ? "q_norm" : "hidden", rows}};
    return problem;
}

inline DeviceInfo gpu() {
    DeviceInfo device;
    device.backend = Backend::cuda;
    device.name = "Made GPU";
    device.arch = "sm_90";
    device.warp_size = 32;
    device.compute_units = 132;
    return device;
}

struct Times {
    std::string configuration;
    double p50_us;
};

/// Adds a problem's trials; the fastest has rank 1. There are no rounds.
inline void add(Results& results, const Problem& problem, const std::vector<Times>& times) {
    results.environment.device = gpu();
    std::size_t best = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        best = times[i].p50_us < times[best].p50_us ? i : best;
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
        Record record;
        record.problem = problem;
        record.candidate = Candidate::parse(times[i].configuration);
        record.measurement.emplace();
        record.measurement->p50_us = times[i].p50_us;
        record.measurement->rank = i == best ? 1 : 0;
        results.records.push_back(record);
    }
}

}  // namespace normtune::testing
