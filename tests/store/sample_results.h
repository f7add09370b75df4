// A small run with one of everything, the same each time: what the golden files show.
#pragma once

#include <limits>

#include "store/results.h"

namespace normtune::testing {

inline Record sample_trial(const Problem& problem, const Configuration& configuration, double p50_us, int rank) {
    Record record;
    record.timestamp = "2026-11-20T23:59:59Z";
    record.device = "Example CPU, 2 \"fast\" cores";
    record.arch = "x86-64-avx2";
    record.problem = problem;
    record.candidate = configuration;
    record.repeat = "normtune sweep --shapes qwen3 --tokens 128";
    CompileInfo compile;
    compile.code_hash = "9f86d081";
    compile.workspace_bytes = 4096;
    compile.programs = 2;
    record.compile = compile;
    Verification verification;
    verification.passed = true;
    verification.seed = 42;
    TensorCheck check;
    check.oracle = "exact";
    check.worst_over_bound = 0.75;
    check.worst_error = 0.825;
    check.worst_row = 3;
    check.worst_col = 17;
    verification.shapes.push_back({problem.shape, problem.shape.rows, {check}});
    record.verification = verification;
    Measurement m;
    m.rounds = {{p50_us, 10, false, true}, {p50_us * 1.01, 10, true}};
    m.samples = 20;
    m.launches_per_sample = 4;
    m.p20_us = p50_us * 0.99;
    m.p50_us = p50_us;
    m.p80_us = p50_us * 1.02;
    m.gbps = 50.123456;
    m.limit_us = 80;
    m.limit_ratio = p50_us / 80;
    m.limit_copy = "stream, 2 threads";
    m.floor_us = 0.125;
    m.memory_bytes = 3 * 1024 * 1024 / 2;
    m.rotation_bytes = 64 * 1024 * 1024;
    m.timer = "steady_clock";
    m.stop_reason = StopReason::confidence;
    m.rank = rank;
    m.tied = rank == 1;
    if (rank == 1) {
        m.final_rounds_us = {p50_us, p50_us};
        m.memory_clock_mhz = 2619;
    }
    record.measurement = m;
    return record;
}

inline Results sample_results() {
    Results results;
    Environment& e = results.environment;
    e.normtune_version = "0.1.0";
    e.source_revision = "0123abc";
    e.hostname = "bench-1";
    e.os = "Debian GNU/Linux 12 (bookworm), Linux 6.1.0";
    e.device.name = "Example CPU, 2 \"fast\" cores";
    e.device.arch = "x86-64-avx2";
    e.device.driver = "6.1.0";
    e.device.warp_size = 8;
    e.device.compute_units = 2;
    e.device.cache_bytes = 32 << 20;
    e.started = "2026-11-20T23:59:00Z";
    e.compiler = "GCC 12.2.0";
    e.seed = std::numeric_limits<std::uint64_t>::max();
    results.command = {"normtune", "sweep", "--shapes", "qwen3", "--tokens", "128"};

    Problem forward;
    forward.shape = {128, 4096, 4096};
    forward.uses = {{"Qwen3-8B", "hidden", 128}, {"Qwen3-4B, again", "q_norm", 4}};
    Problem backward = forward;
    backward.operation.op = Op::fused_add_rms_norm;
    backward.operation.mode = Mode::backward;
    backward.operation.casting = Casting::gemma;
    backward.operation.weight_dtype = Dtype::fp32;
    backward.operation.offset = 1;
    backward.shape.row_stride = 4608;
    results.sweep = SweepIdentity{"5057a4b7f02affb2", "52e3035f307b6c8b", 3, 2, {1}};
    results.plans = {{forward.key(), 48, 4, {{"threads_per_row", "threads_per_row <= threads", 40}, {"cpu.stages", "…", 4}}, 2}};

    Configuration other;
    other.num_warps = 8;
    other.block_size = 1024;
    other.residency = Residency::reload;
    results.records.push_back(sample_trial(forward, other, 100.5, 2));
    results.records.push_back(sample_trial(forward, Configuration{}, 90.25, 1));
    results.records.push_back(sample_trial(backward, other, 1234.56789, 1));

    Record incorrect = sample_trial(forward, Configuration{}, 1, 0);
    incorrect.candidate.configuration()->vector_bytes = 8;
    incorrect.outcome = Outcome::incorrect;
    incorrect.reason = "y at row 3, column 17: 1.5, should be 1, \"bound\" 0.004";
    incorrect.verification->passed = false;
    incorrect.verification->shapes[0].tensors[0].worst_over_bound = std::numeric_limits<double>::infinity();
    incorrect.measurement.reset();
    results.records.push_back(incorrect);

    Record crashed = incorrect;
    crashed.candidate.configuration()->stages = 2;
    crashed.outcome = Outcome::crashed;
    crashed.reason = "the worker died of SIGSEGV";
    crashed.compile.reset();
    crashed.verification.reset();
    results.records.push_back(crashed);
    return results;
}

}  // namespace normtune::testing
