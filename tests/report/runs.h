// Made-up runs for the tests of what is said about runs.
#pragma once

#include <string>

#include "store/results.h"

namespace normtune::testing {

inline Problem problem_of(std::int64_t rows, std::int64_t cols) {
    Problem problem;
    problem.shape = {rows, cols, cols};
    return problem;
}

inline Record measured_record(const Problem& problem, int rows_per_program, double p50_us, int rank, bool tied = false) {
    Record record;
    record.backend = Backend::replay;
    record.problem = problem;
    record.candidate.configuration()->rows_per_program = rows_per_program;
    record.measurement.emplace();
    record.measurement->p50_us = p50_us;
    record.measurement->gbps = 1e3 / p50_us;
    record.measurement->limit_ratio = 1.1;
    record.measurement->rank = rank;
    record.measurement->tied = tied;
    return record;
}

inline Record failed_record(const Problem& problem, int rows_per_program, Outcome outcome, const std::string& reason) {
    Record record;
    record.problem = problem;
    record.candidate.configuration()->rows_per_program = rows_per_program;
    record.outcome = outcome;
    record.reason = reason;
    record.repeat = "normtune sweep --problem …";
    return record;
}

}  // namespace normtune::testing
