// Planning on one problem, rules and limits included: a space of ten million points with each kind of visit, and the
// default space's 541 trillion on an H100. Points a second, peak memory.
#include <sys/resource.h>

#include <benchmark/benchmark.h>

#include "devices/registry.h"
#include "space/plan.h"

namespace {

using namespace normtune;

SearchSpace wide_space() {
    SearchSpace space{"wide", {}, {}};
    space.axes = {{Axis::num_warps, {1, 2, 4, 8, 16}},
                  {Axis::threads_per_row, {16, 32, 64, 128, 256, 512}},
                  {Axis::rows_per_program, {1, 2, 4, 8, 16, 32}},
                  {Axis::block_size, {whole_row, 512, 1024, 2048, 4096, 8192}},
                  {Axis::residency, {0, 1, 2}},
                  {Axis::reduction, {0, 1, 2, 3}},
                  {Axis::grid, {0, 1, 2, 3}},
                  {Axis::programs_per_sm, {1, 2, 4, 8}},
                  {Axis::gamma, {0, 1, 2}},
                  {Axis::vector_bytes, {2, 4, 8, 16}},
                  {Axis::load_hint, {0, 1, 2}},
                  {Axis::store_hint, {0, 1}}};
    space.rules = {default_threads_per_row_rule(),
                   {"work", "rows_per_program * cols <= 65536", false, "bench", 1},
                   {"hints", "load_hint == default || residency != reload", true, "bench", 2},
                   {"mixed", "rows_side_by_side * vector_bytes + programs_per_sm > 3 || gamma == after", false, "bench", 3}};
    return space;
}

enum Visits { none, kept, all };

void tell(benchmark::State& state, const ProblemPlan& plan) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    state.counters["points"] = static_cast<double>(plan.points);
    state.counters["kept"] = static_cast<double>(plan.kept);
    state.counters["points_per_s"] = benchmark::Counter(static_cast<double>(plan.points), benchmark::Counter::kIsIterationInvariantRate);
    state.counters["peak_rss_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void plan_wide_space(benchmark::State& state) {
    const auto visits = static_cast<Visits>(state.range(0));
    const SearchSpace space = wide_space();
    Problem problem;
    problem.shape = {8192, 4096, 4096};
    problem.operation.mode = Mode::backward;
    DeviceInfo device;
    device.compute_units = 132;
    device.shared_bytes_per_program = 227 * 1024;
    std::uint64_t seen = 0;
    ProblemPlan plan;
    for (auto _ : state) {
        PlanVisitor visitor;
        if (visits != Visits::none) {
            visitor = [&](const Configuration&, const RuleTally*) { ++seen; };
        }
        plan = plan_problem(problem, space, BackendTraits{Backend::replay, {}, {}}, device, visits == Visits::all, visitor);
        benchmark::DoNotOptimize(seen);
    }
    tell(state, plan);
}

void plan_default_space(benchmark::State& state) {
    const SearchSpace space = load_space("default");
    const DeviceInfo device = describe_architecture("sm_90");
    const BackendTraits traits = backend_traits(device.backend);
    Problem problem;
    problem.shape = {8192, state.range(0), state.range(0)};
    problem.operation.mode = static_cast<Mode>(state.range(1));
    ProblemPlan plan;
    for (auto _ : state) {
        plan = plan_problem(problem, space, traits, device, false, {});
    }
    tell(state, plan);
}

BENCHMARK(plan_wide_space)->ArgName("visit")->Arg(Visits::none)->Arg(Visits::kept)->Arg(Visits::all)->Unit(benchmark::kMillisecond);

BENCHMARK(plan_default_space)
    ->ArgNames({"cols", "mode"})
    ->ArgsProduct({{128, 4096, 16384}, {static_cast<int>(Mode::forward), static_cast<int>(Mode::backward)}})
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
