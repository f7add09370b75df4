// The field tables of a record and of what it consists of (trial/field.h): JSON, results.csv and the schema follow them.
// CONTRIBUTING.md says how a field is added.
#pragma once

#include <string>

#include "space/axes.h"
#include "trial/field.h"
#include "trial/plan_summary.h"
#include "trial/record.h"

namespace normtune {

namespace fields {

inline constexpr FieldTraits in_csv;
inline constexpr FieldTraits count{.least = 0};
inline constexpr FieldTraits size{.least = 1};
inline constexpr FieldTraits bytes{.unit = "bytes", .least = 0};
/// Of a launch: above it (11 days) a time is a mistake, not a measurement. A CSV has 0.1 ns: below any timer.
inline constexpr FieldTraits time_us{.unit = "microseconds", .least = 1e-6, .most = longest_us, .decimals = 4};
inline constexpr FieldTraits error{.least = 0, .null = NullNumber::infinite};
/// One that may be unknown.
constexpr FieldTraits figure(int decimals, std::string_view unit = {}) {
    return {.unit = unit, .least = 0, .null = NullNumber::not_a_number, .decimals = decimals};
}
constexpr FieldTraits in_mib(std::string_view column) {
    return {.unit = "bytes", .least = 0, .column = column, .decimals = 6, .per = 1024.0 * 1024.0};
}
/// In every results.csv.
constexpr FieldTraits needed(int place, FieldTraits traits = {}) {
    traits.needed = true;
    return traits.compared_at(place);
}

std::string joined_tokens(const std::vector<Use>& uses);
std::string worst_over_bound(const Verification& verification);
std::string throttled_rounds(const Measurement& measurement);
std::string moved_rounds(const Measurement& measurement);
std::string flaw_of(const Shape& shape);
std::string flaw_of(const Measurement& measurement);
std::string flaw_of(const Repetition& repetition);

}  // namespace fields

template <typename V, Is<Use> T>
void describe(V& v, T& use) {
    using namespace fields;
    v("model", use.model, "Name of the model");
    v("site", use.site, R"("hidden", "q_norm", "k_norm", "q_a", "kv_a", or a benchmark's own word)");
    v("tokens", use.tokens, "Tokens", count);
}

template <typename V, Is<Shape> T>
void describe(V& v, T& shape) {
    using namespace fields;
    v("rows", shape.rows, "M: rows that are normalised", needed(10, size));
    v("cols", shape.cols, "N: columns of a row", needed(11, size));
    v("row_stride", shape.row_stride, "Elements from one row of x to the next; at least cols", size.compared_at(place::problem));
    v.otherwise(shape.row_stride, shape.cols);
    v.flaw([&] { return flaw_of(shape); });
}

template <typename V, Is<Operation> T>
void describe(V& v, T& operation) {
    using namespace fields;
    v("op", op_names, operation.op, "What is computed; its formula is in docs/semantics.md", needed(4));
    v("mode", mode_names, operation.mode, "full: forward, then backward; inference: a forward that saves nothing", needed(5));
    v("dtype", dtype_names, operation.dtype, "Type of the tensors", needed(6));
    v("casting", casting_names, operation.casting, "Where values are rounded to the tensors' type", needed(7));
    v("weight_dtype", dtype_names, operation.weight_dtype, "Type of gamma and dgamma", in_csv.compared_at(place::problem));
    v.otherwise(operation.weight_dtype, operation.dtype);
    v("affine", operation.affine, "false: there is no gamma", in_csv.compared_at(place::problem));
    v("offset", operation.offset, "Added to gamma: 1 for zero-centred gamma",
      FieldTraits{.least = 0, .most = 1}.compared_at(place::problem));
    v("in_place", operation.in_place, "Backward: dx is written over dy; inference: y over x, s over residual",
      in_csv.compared_at(place::problem));
    v("residual", residual_names, operation.residual, "Fused add: is the sum rounded before it is squared",
      in_csv.compared_at(place::problem));
    v("eps", operation.eps, "Added to the mean of squares", count.at(place::problem));
}

template <typename V, Is<Problem> T>
void describe(V& v, T& problem) {
    using namespace fields;
    v.column("model", 8, [&] { return joined_models(problem.uses); });
    v.column("site", 9, [&] { return joined_sites(problem.uses); });
    v.column("tokens", place::tokens, [&] { return joined_tokens(problem.uses); });
    describe(v, problem.shape);
    describe(v, problem.operation);
    v("uses", problem.uses, "Where models have this shape");
    v.repeated(
        "key", "Text key, made of the members beside it but eps and uses", [&] { return problem.key(); }, true);
}

template <typename V, Is<DeviceInfo> T>
void describe(V& v, T& device) {
    using namespace fields;
    v("backend", backend_names, device.backend, "What ran it");
    v("name", device.name, "As the driver or the system names it");
    v("arch", device.arch, R"(Instruction set or compute capability: "sm_90", "gfx942", "x86-64-avx512")");
    v("driver", device.driver, "Version of the driver; of the kernel on a CPU", in_csv.compared_at(place::run));
    v("ordinal", device.ordinal, "Which of several devices, from 0", count);
    v("id", device.id, "Tells devices of one name apart, whatever their ordinals: a GPU's PCI address", {.added = true});
    v("uuid", device.uuid, "A GPU's own, wherever it is plugged in; empty where the driver does not tell", {.added = true});
    v("warp_size", device.warp_size, "Threads of a warp or wavefront; fp32 lanes of the widest vector on a CPU", {.least = 1});
    v("compute_units", device.compute_units, "SMs, CUs or cores", {.least = 1});
    v("max_threads_per_program", device.max_threads_per_program, "Threads", {.least = 1});
    v("threads_per_compute_unit", device.threads_per_compute_unit,
      "Threads that can be resident on one at once; 1 on a CPU, 2048 where a file does not say", {.least = 1, .added = true});
    v("shared_bytes_per_program", device.shared_bytes_per_program, "Shared memory; the L1 data cache on a CPU", bytes);
    v("cache_bytes", device.cache_bytes, "Last-level cache", bytes);
    v("memory_bytes", device.memory_bytes, "Memory", bytes);
    v("has_async_copy", device.has_async_copy, "Copies to shared memory without registers");
}

template <typename V, Is<Environment> T>
void describe(V& v, T& environment) {
    using namespace fields;
    v("device", environment.device, "");
    v("normtune_version", environment.normtune_version, "Version of normtune", in_csv.at(place::run));
    v("source_revision", environment.source_revision, "Revision of its sources; empty where the build had none");
    v("hostname", environment.hostname, "Name of the machine");
    v("os", environment.os, "Operating system and kernel");
    v("started", environment.started, "When the run began; UTC", {.form = TextForm::timestamp});
    v("seed", environment.seed, "Seed of the order of trials and of the inputs; up to 64 bits", count);
    v("compiler", environment.compiler,
      "What compiled normtune's kernels, with its version: NVRTC or hiprtc, on a CPU the executable's compiler; left out where none did",
      {.added = true, .omit_empty = true});
    v("providers", environment.providers, "Python providers that took part, each with its version", {.added = true, .omit_empty = true});
}

template <typename V, Is<CompileInfo> T>
void describe(V& v, T& compile) {
    using namespace fields;
    v("compile_ms", compile.compile_ms, "Time of compiling; 0: compiled ahead of time", figure(3, "milliseconds").at(27));
    v("code_hash", compile.code_hash, "Of the machine code: equal hash, equal code", in_csv.compared_at(place::code));
    v("from_cache", compile.from_cache, "The compiled code was on disk", in_csv.at(place::code));
    v("registers", compile.registers, "Registers a thread", count.at(place::code));
    v("spill_bytes", compile.spill_bytes, "Spilled by a thread", bytes.at(place::code));
    v("shared_bytes", compile.shared_bytes, "Shared memory of a program", bytes.compared_at(place::code));
    v("occupancy", compile.occupancy, "Resident threads over the most possible", figure(4).at(place::code));
    v("workspace_bytes", compile.workspace_bytes, "Beside the op's tensors", bytes.at(place::code));
    v("programs", compile.programs, "Programs of the main kernel's grid", count.compared_at(place::code));
}

template <typename V, Is<TensorCheck> T>
void describe(V& v, T& check) {
    using namespace fields;
    v("tensor", tensor_names, check.role, "Which output");
    v("oracle", check.oracle, R"("rounded": with the rounding points of the kernel's contract; "exact" in older files)");
    v("worst_over_bound", check.worst_over_bound, "Error before the last rounding over its bound; above 1 is incorrect; null: infinite",
      error);
    v("worst_error", check.worst_error, "Of what was stored, in unit roundoffs of the value expected; null: infinite", error);
    v("worst_row", check.worst_row, "Row of the worst element; -1: none", {.least = -1});
    v("worst_col", check.worst_col, "Column of the worst element; -1: none", {.least = -1});
    v("unwritten", check.unwritten, "Elements that still held the poison, and gaps that were written", count);
}

template <typename V, Is<ShapeCheck> T>
void describe(V& v, T& check) {
    using namespace fields;
    describe(v, check.shape);
    v("rows_checked", check.rows_checked, "Rows compared; in older files fewer than rows, where the oracle ran on a sample", count);
    v("tensors", check.tensors, "One entry a tensor and oracle");
}

template <typename V, Is<Verification> T>
void describe(V& v, T& verification) {
    using namespace fields;
    v("passed", verification.passed, "All within their bounds", FieldTraits{.column = "verified"}.at(place::verification));
    v.column("worst_over_bound", place::verification, [&] { return worst_over_bound(verification); });
    v("reason", verification.reason, "The first failure; empty where passed");
    v("seed", verification.seed, "Of the inputs", count);
    v("shapes", verification.shapes, "The problem's own shape and the awkward ones beside it");
}

template <typename V, Is<BitsCheck> T>
void describe(V& v, T& bits) {
    using namespace fields;
    constexpr FieldTraits text{.form = TextForm::prose, .added = true, .omit_empty = true};
    v("row_bits", bits.row_bits, "Digest of the outputs of fixed rows, which have equal bits alone and in batches; empty: they differ");
    v("rows_differ", bits.rows_differ, "Where a row in a batch has other bits than alone", text);
    v("runs_differ", bits.runs_differ, "Where dgamma has other bits from launch to launch", text);
}

template <typename V, Is<Round> T>
void describe(V& v, T& round) {
    using namespace fields;
    v("median_us", round.median_us, "Median of the round", time_us);
    v("samples", round.samples, "Samples", count);
    v("throttled", round.throttled, "Kept although the device throttled: repeats ran out");
    v("clocks_moved", round.clocks_moved, "A clock after it was another than before it", {.added = true, .omit_empty = true});
    constexpr FieldTraits clock{.unit = "megahertz", .least = 0, .added = true, .omit_empty = true};
    v("clock_mhz", round.clock_mhz, "Of the compute units before and after it, where a clock moved", clock);
    v("memory_clock_mhz", round.memory_clock_mhz, "Of the memory, the same", clock);
}

template <typename V, Is<Repetition> T>
void describe(V& v, T& repetition) {
    using namespace fields;
    v("process", repetition.process, "2, 3, …: the first process has the ordinary rounds", {.least = 2});
    v("rounds", repetition.rounds, "Interleaved with those of the problem's other trials");
    v("p20_us", repetition.p20_us, "20th percentile of the process's samples", time_us);
    v("p50_us", repetition.p50_us, "Their median", time_us);
    v("p80_us", repetition.p80_us, "80th percentile", time_us);
    v("limit_us", repetition.limit_us, "Median of the copy in the same rounds", figure(4, "microseconds"));
    v("floor_us", repetition.floor_us, "Median of an empty launch in the same rounds", figure(4, "microseconds"));
    v.flaw([&] { return flaw_of(repetition); });
}

template <typename V, Is<Measurement> T>
void describe(V& v, T& m) {
    using namespace fields;
    constexpr FieldTraits added_time{.unit = "microseconds", .least = 0, .added = true};
    v("rank", m.rank, "1: the winner of its problem; 0: not ranked",
      FieldTraits{.least = 0, .omit_empty = true}.compared_at(place::ranking));
    v("tied", m.tied, "Cannot be told apart from the winner", in_csv.compared_at(place::ranking));
    v("rounds", m.rounds, "Interleaved with the rounds of the problem's other configurations", count.compared_at(place::measuring));
    v("samples", m.samples, "Samples over all rounds", count.at(20));
    v("launches_per_sample", m.launches_per_sample, "A sample is the mean over this many launches", count.at(place::measuring));
    v("p20_us", m.p20_us, "20th percentile of all samples", time_us.compared_at(21));
    v("p50_us", m.p50_us, "Median of all samples", needed(22, time_us));
    v("p80_us", m.p80_us, "80th percentile of all samples", time_us.compared_at(23));
    v("gbps", m.gbps, "Least bytes over p50: 10^9 bytes a second", figure(3).at(24));
    v("stop_reason", stop_reason_names, m.stop_reason,
      "Why sampling ended; dropped: slower than the best with confidence after few rounds of a race, never a winner",
      in_csv.compared_at(place::measuring));
    v("limit_us", m.limit_us, "Median of the fastest copy of the same bytes, in the same rounds",
      figure(4, "microseconds").compared_at(place::measuring));
    v("limit_ratio", m.limit_ratio, "p50 over limit", figure(4).at(25));
    v("floor_us", m.floor_us, "Median of an empty launch", figure(4, "microseconds").compared_at(place::measuring));
    v("memory_bytes", m.memory_bytes, "Tensors and workspace; the rotation is not counted", in_mib("memory_mib").compared_at(26));
    v("cold", m.cold, "Inputs and outputs rotate beyond the last-level cache", in_csv.compared_at(place::measuring));
    v("timer", m.timer, "How the device was timed", in_csv.compared_at(place::measuring));
    v("rotation_bytes", m.rotation_bytes, "Buffer sets that its launches touched", in_mib("rotation_mib").at(place::measuring));
    v("clock_mhz", m.clock_mhz, "Of the compute units after each round, the median, where the driver tells",
      figure(1, "megahertz").at(place::measuring));
    v.column("throttled_rounds", place::measuring, [&] { return throttled_rounds(m); });
    v("throttled_repeats", m.throttled_repeats, "Rounds thrown away and repeated", count.at(place::measuring));
    v("throttle_reasons", m.throttle_reasons, "The driver's words", in_csv.at(place::measuring));
    v("final_rounds_us", m.final_rounds_us, "Medians of the finals' fresh rounds; empty: it was not in the finals", time_us);
    v("final_floor_us", m.final_floor_us, "Median of an empty launch in those rounds", added_time);
    v("limit_copy", m.limit_copy, "Which copy the limit is, or \"failed: \" and why there is none",
      FieldTraits{.added = true}.at(place::timing));
    v("memory_clock_mhz", m.memory_clock_mhz, "Of the memory, the same", figure(1, "megahertz").at(place::timing));
    v.column("moved_rounds", place::timing, [&] { return moved_rounds(m); });
    v("repetitions", m.repetitions, "The rounds of further processes",
      FieldTraits{.least = 0, .added = true, .omit_empty = true}.at(place::timing));
    v.flaw([&] { return flaw_of(m); });
}

template <typename V, Is<Configuration> T>
void describe(V& v, T& configuration) {
    for (const AxisRow& axis : axis_table) {
        v.axis(axis, configuration);
    }
    // The key also catches an axis that this version does not know and that makes a difference.
    v.repeated("key", "Text key; says the same as the axes", [&] { return configuration.key(); });
}

template <typename V, Is<Record> T>
void describe(V& v, T& record) {
    using namespace fields;
    v("timestamp", record.timestamp, "When the trial ended; UTC", FieldTraits{.form = TextForm::timestamp}.compared_at(0));
    v("backend", backend_names, record.backend, "What ran it", in_csv.at(1));
    v("device", record.device, "Name of the device", in_csv.compared_at(2));
    v("arch", record.arch, "Its architecture", in_csv.compared_at(3));
    v("device_id", record.device_id, "Which device of that name: its id", FieldTraits{.added = true}.at(place::device_id));
    v("problem", record.problem, "");
    v.candidate(record.candidate);
    v("outcome", outcome_names, record.outcome, "Only passed trials are ranked", needed(18));
    v("reason", record.reason, "Why it did not pass; empty where it did", FieldTraits{.form = TextForm::prose}.compared_at(19));
    v("compile", record.compile, "");
    v("verification", record.verification, "");
    v("bits", record.bits, "");
    v("measurement", record.measurement, "");
    v("repeat", record.repeat, "Command line that runs this trial again", FieldTraits{.form = TextForm::prose}.at(place::repeat));
}

template <typename V, Is<PlanSummary::Pruned> T>
void describe(V& v, T& rule) {
    using namespace fields;
    v("rule", rule.rule, "Name of the rule");
    v("reason", rule.reason, "Its expression, or the backend's reason");
    v("count", rule.count, "Points that this rule was the first to take", count);
}

template <typename V, Is<PlanSummary> T>
void describe(V& v, T& plan) {
    using namespace fields;
    v("problem", plan.problem_key, "Key of the problem");
    v("points", plan.points, "Points of the space before pruning", count);
    v("kept", plan.kept, "Points that run", count);
    v("place", plan.place, "Of a shard's problem: its place among the problems of all shards, from 0", count);
    v("pruned", plan.pruned, "One entry a rule, in the order of the rules");
}

}  // namespace normtune
