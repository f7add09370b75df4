// How often compare is wrong, at its default settings: pairs of equal code that it calls faster or slower, and pairs
// that were made slower and that it does not call so. Synthetic sweeps of several kinds of noise, and recorded ones.
#include <filesystem>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "judge/comparison.h"
#include "judge/synthetic_runs.h"

using namespace normtune;
using namespace normtune::testing;

namespace {

constexpr int comparisons = 25;

struct Tally {
    double called = 0;
    double ambiguous = 0;
    double pairs = 0;

    void add(const Comparison& comparison, const std::function<bool(const Pair&)>& counts, bool slower_alone) {
        for (const Pair& pair : comparison.pairs) {
            if (pair.judged() && pair.before > 10 && counts(pair)) {
                ++pairs;
                called += pair.verdict == Verdict::slower || (!slower_alone && pair.verdict == Verdict::faster) ? 1 : 0;
                ambiguous += pair.verdict == Verdict::ambiguous ? 1 : 0;
            }
        }
    }
    void report(benchmark::State& state) const {
        state.counters["pairs"] = pairs;
        state.counters["called"] = called;
        state.counters["called_percent"] = 100 * called / pairs;
        state.counters["ambiguous_percent"] = 100 * ambiguous / pairs;
    }
};

void synthetic(benchmark::State& state, NoiseShape shape, double slowdown, int one_in) {
    for (auto _ : state) {
        Tally tally;
        for (int i = 0; i < comparisons; ++i) {
            SyntheticSweep sweep;
            sweep.noise = shape;
            sweep.seed = static_cast<std::uint64_t>(2 * i + 1);
            const ResultRows before = synthetic_rows(sweep);
            sweep.seed = static_cast<std::uint64_t>(2 * i + 2);
            const auto chosen = [&](int trial) { return one_in > 0 && trial % one_in == 0; };
            sweep.planted = [&](int p, int c) { return chosen(p * sweep.configurations + c) ? 1 + slowdown : 1.0; };
            const ResultRows after = synthetic_rows(sweep);
            tally.add(
                compare(before, after, {}), [&](const Pair& pair) { return one_in == 0 || chosen(static_cast<int>(pair.baseline)); },
                one_in > 0);
        }
        tally.report(state);
    }
}

ResultRows slowed(const std::string& path, double factor, int one_in) {
    ResultRows out = read_result_rows(path);
    for (std::size_t i = 0; i < out.rows.size(); i += static_cast<std::size_t>(one_in)) {
        ResultRow& row = out.rows[i];
        for (std::size_t k = 0; k < row.rounds; ++k) {
            out.rounds_us[row.first_round + k] *= factor;
        }
        row.p20_us *= factor;
        row.p50_us *= factor;
        row.p80_us *= factor;
    }
    return out;
}

/// Every ordered pair of the recorded sweeps of one selection in a folder.
void recorded(benchmark::State& state, const std::string& folder, double slowdown, int one_in) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    for (auto _ : state) {
        Tally tally;
        for (const std::string& a : files) {
            const ResultRows before = read_result_rows(a);
            for (const std::string& b : files) {
                if (a != b) {
                    const ResultRows after = slowed(b, 1 + slowdown, std::max(one_in, 1));
                    tally.add(
                        compare(before, after, {}),
                        [&](const Pair& pair) { return one_in == 0 || pair.candidate % static_cast<unsigned>(one_in) == 0; }, one_in > 0);
                }
            }
        }
        tally.report(state);
    }
}

}  // namespace

int main(int argc, char** argv) {
    struct Case {
        const char* name;
        double slowdown;
        int one_in;  // 0: nothing is planted
    };
    constexpr Case cases[] = {{"equal", 0, 0},
                              {"slower_3_all", 0.03, 1},
                              {"slower_3_one_in_10", 0.03, 10},
                              {"slower_5_all", 0.05, 1},
                              {"slower_5_one_in_10", 0.05, 10}};
    for (std::size_t i = 0; i < noise_shape_names.names.size(); ++i) {
        for (const Case& c : cases) {
            benchmark::RegisterBenchmark(
                fmt::format("{}/{}", noise_shape_names.names[i], c.name).c_str(),
                [=](benchmark::State& state) { synthetic(state, static_cast<NoiseShape>(i), c.slowdown, c.one_in); })
                ->Iterations(1)
                ->Unit(benchmark::kMillisecond);
        }
    }
    const std::filesystem::path data = std::filesystem::path(NORMTUNE_SOURCE_DIR) / "tests/data/repeated";
    if (std::filesystem::exists(data)) {
        for (const auto& folder : std::filesystem::directory_iterator(data)) {
            for (const Case& c : cases) {
                benchmark::RegisterBenchmark(
                    fmt::format("recorded_{}/{}", folder.path().filename().string(), c.name).c_str(),
                    [=, path = folder.path().string()](benchmark::State& state) { recorded(state, path, c.slowdown, c.one_in); })
                    ->Iterations(1)
                    ->Unit(benchmark::kMillisecond);
            }
        }
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
