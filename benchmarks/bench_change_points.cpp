// How often `normtune history trend` is wrong, and how soon it is right: histories of 300 nights with noise that is known, made as
// tests/judge/synthetic_history.h says, at levels of noise that were recorded. Prints the tables of docs/history.md.
//
//   build/bin/bench_change_points 400
#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "judge/synthetic_history.h"
#include "measure/statistics.h"
#include "store/results.h"

using namespace normtune;
using namespace normtune::testing;

namespace {

/// Standard deviations of log p50 of each trial over the recorded repeats of one selection, ascending.
std::vector<double> recorded_deviations(const std::filesystem::path& folder) {
    std::map<std::string, std::vector<double>> times;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        for (const Record& record : read_results_json(entry.path().string()).records) {
            if (record.outcome == Outcome::passed && record.measurement) {
                times[record.trial_key()].push_back(std::log(record.measurement->p50_us));
            }
        }
    }
    std::vector<double> out;
    for (const auto& [trial, values] : times) {
        double mean = 0;
        for (const double value : values) {
            mean += value / static_cast<double>(values.size());
        }
        double squares = 0;
        for (const double value : values) {
            squares += (value - mean) * (value - mean);
        }
        if (values.size() > 1) {
            out.push_back(std::sqrt(squares / static_cast<double>(values.size() - 1)));
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

struct Scenario {
    std::string name;
    SyntheticNights nights;
};

TrendCounts count(SyntheticNights nights, double planted, int histories) {
    TrendCounts out;
    nights.planted = planted;
    for (int i = 0; i < histories; ++i) {
        nights.seed = static_cast<std::uint64_t>(i);
        out.add(synthetic_history(nights));
    }
    return out;
}

std::string share(double part, double of) {
    return of > 0 ? fmt::format("{:.1f}%", 100 * part / of) : "-";
}

void print(const Scenario& scenario, int histories) {
    const TrendCounts none = count(scenario.nights, 0, histories);
    fmt::print("| {} | {:.2f}% | {:.3f} | {:.3f} |", scenario.name, 100 * scenario.nights.deviation, none.false_alarms / none.series,
               none.false_large / none.series);
    for (const double planted : {0.01, 0.02, 0.05}) {
        const TrendCounts found = count(scenario.nights, planted, histories);
        fmt::print(" {} / {} |", share(found.found_5, found.series), share(found.found_10, found.series));
    }
    fmt::print(" {} / {} | {} |\n", share(none.floor_told, none.floor_steps), share(none.floor_wrong, none.floor_steps),
               share(none.driver_told, none.drivers));
}

}  // namespace

int main(int argc, char** argv) {
    int histories = 0;
    const std::string_view word = argc == 2 ? argv[1] : "";
    if (std::from_chars(word.data(), word.data() + word.size(), histories).ec != std::errc() || histories < 1) {
        fmt::print(stderr, "usage: bench_change_points HISTORIES\n");
        return 2;
    }
    const std::filesystem::path data = std::filesystem::path(NORMTUNE_SOURCE_DIR) / "tests/data/repeated";
    fmt::print("# Recorded\n\n| recorded repeats | trials | usual deviation | largest |\n|---|--:|--:|--:|\n");
    std::map<std::string, std::vector<double>> recorded;
    for (const char* const name : {"h100_a", "h100_b", "cpu"}) {
        const std::vector<double>& all = recorded[name] = recorded_deviations(data / name);
        fmt::print("| {} | {} | {:.2f}% | {:.2f}% |\n", name, all.size(), 100 * median(all), 100 * all.back());
    }
    SyntheticNights calm;
    calm.noisy_weeks = calm.floor_steps = calm.driver_changes = 0;
    calm.accidents = calm.correlation = 0;
    SyntheticNights all;
    std::vector<Scenario> scenarios;
    const auto add = [&](std::string name, SyntheticNights nights, double deviation) {
        nights.deviation = deviation;
        scenarios.push_back({std::move(name), nights});
    };
    const double usual = median(recorded["h100_a"]);
    const double largest = recorded["h100_b"].back();
    constexpr double two_sweeps = 0.002;  // of a run: results/h100, llama3 against qwen3, 0.28 % of a ratio
    add("independent nights", calm, largest);
    add("all of it, an H100's usual trial", all, usual);
    add("all of it, an H100's worst trial", all, largest);
    add("all of it, two sweeps of an H100", all, two_sweeps);
    SyntheticNights loud = all;
    loud.noisy = 5;
    add("the same, noisy weeks five times as noisy", loud, two_sweeps);
    SyntheticNights busy = loud;
    busy.rebuilds = 8;  // beside the planted change, the floor's steps and the drivers, twelve nights apart
    add("these weeks, and eight builds that change no time", busy, two_sweeps);
    SyntheticNights many = all;
    many.problems = 20;
    add("two sweeps of an H100, 20 problems together", many, two_sweeps);
    add("all of it, a CPU's usual trial", all, median(recorded["cpu"]));
    fmt::print(
        "\n# Found\n\n| noise | deviation | false alarms in 300 nights | of 2% and more | 1% found in 5 / 10 nights | 2% | 5% | floor "
        "steps told "
        "as such / "
        "as another | driver's effects told as such |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (const Scenario& scenario : scenarios) {
        print(scenario, scenario.nights.problems == 1 ? histories : std::max(1, histories / scenario.nights.problems));
    }
    SyntheticNights large = all;
    large.problems = 1000;
    const SyntheticHistory history = synthetic_history(large);
    const auto start = std::chrono::steady_clock::now();
    static_cast<void>(find_trend(history.history, Policy{}, "2026-11-22"));
    fmt::print("\n1,000 problems × 300 nights: {:.1f} s\n",
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}
