// What a trial costs beyond its measuring: the replay device takes no time, so all that is left is the pipeline's own
// work: planning, the worker's round trips, stop rule, journal, records, result files. To stay under 2 ms a trial.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "run/sweep.h"
#include "run/worker/worker.h"

namespace normtune {
namespace {

struct SilentSink : ProgressSink {
    void update(const Progress&) override {}
    void warn(const std::string& line) override { fmt::print(stderr, "{}\n", line); }
};

SweepOptions options_for(const std::string& folder, int problems) {
    SweepOptions options;
    options.command = {"bench_pipeline"};
    for (int i = 0; i < problems; ++i) {
        Problem problem;
        problem.shape = {1024 * (i + 1), 4096, 4096};
        options.problems.push_back(problem);
    }
    options.space.name = "bench";
    options.space.axes = {{Axis::rows_per_program, {1, 2, 4, 8, 16, 32}},
                          {Axis::grid, {static_cast<int>(Grid::packed)}},
                          {Axis::stages, {1, 2, 3}},
                          {Axis::load_hint, {0, 1, 2}},
                          {Axis::store_hint, {0, 1, 2}}};
    options.backend = Backend::replay;
    options.replay_script = folder + "/script.yaml";
    options.out_folder = folder + "/out";
    return options;
}

// The argument is the number of problems; each has some hundred trials with at least six rounds each.
void sweep_on_replay(benchmark::State& state) {
    std::uint64_t trials = 0;
    for (auto _ : state) {
        state.PauseTiming();
        std::string name = (std::filesystem::temp_directory_path() / "normtune-bench-XXXXXX").string();
        const std::string folder = mkdtemp(name.data());
        std::ofstream(folder + "/script.yaml") << "noise: {sigma: 0.01}\n";
        std::filesystem::create_directory(folder + "/out");
        const SweepOptions options = options_for(folder, static_cast<int>(state.range(0)));
        SilentSink sink;
        state.ResumeTiming();
        trials += run_sweep(options, sink).results.records.size();
        state.PauseTiming();
        std::filesystem::remove_all(folder);
        state.ResumeTiming();
    }
    state.counters["trials"] = benchmark::Counter(static_cast<double>(trials), benchmark::Counter::kAvgIterations);
    state.counters["s_per_trial"] =
        benchmark::Counter(static_cast<double>(trials), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(sweep_on_replay)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace normtune

// This executable is its own worker, as normtune is.
int main(int argc, char** argv) {
    if (const auto status = normtune::run_as_worker(argc, argv)) {
        return *status;
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
