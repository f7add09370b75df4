// How often compare is wrong, at its default settings: pairs of equal code that it calls faster or slower, and pairs that were made slower
// and that it does not call so. Prints the tables of docs/comparing.md, which scripts/results makes of it: sweeps with synthetic noise,
// recorded ones, and recorded ones with disturbances.
#include <filesystem>

#include <fmt/format.h>

#include "judge/disturbed_runs.h"
#include "judge/synthetic_runs.h"
#include "report/table.h"

using namespace normtune;
using namespace normtune::testing;

namespace {

struct Tally {
    double called = 0;
    double pairs = 0;

    void add(const Pair& pair, bool slower_alone) {
        ++pairs;
        called += pair.verdict == Verdict::slower || (!slower_alone && pair.verdict == Verdict::faster) ? 1 : 0;
    }
    std::string count() const {
        return fmt::format("{} of {}", grouped(static_cast<std::uint64_t>(called)), grouped(static_cast<std::uint64_t>(pairs)));
    }
    std::string percent() const { return pairs > 0 ? fmt::format("{:.4g}%", 100 * called / pairs) : "-"; }
};

struct Plan {
    double slowdown;
    int one_in;  // 0: nothing is planted
};
constexpr Plan plans[] = {{0, 0}, {0.03, 1}, {0.03, 10}, {0.05, 1}, {0.05, 10}};

CompareSettings settings() {
    CompareSettings out;
    out.judge_same_code = true;  // recorded runs are of the same code
    return out;
}

Tally synthetic(NoiseShape shape, const Plan& plan) {
    constexpr int comparisons = 25;
    Tally tally;
    for (int i = 0; i < comparisons; ++i) {
        SyntheticSweep sweep;
        sweep.noise = shape;
        sweep.seed = static_cast<std::uint64_t>(2 * i + 1);
        const ResultRows before = synthetic_rows(sweep);
        sweep.seed = static_cast<std::uint64_t>(2 * i + 2);
        const auto chosen = [&](int trial) { return plan.one_in > 0 && trial % plan.one_in == 0; };
        sweep.planted = [&](int p, int c) { return chosen(p * sweep.configurations + c) ? 1 + plan.slowdown : 1.0; };
        const ResultRows after = synthetic_rows(sweep);
        const Comparison comparison = compare(before, after, settings());
        for (const Pair& pair : comparison.pairs) {
            if (plan.one_in == 0 || chosen(static_cast<int>(pair.baseline))) {
                tally.add(pair, plan.one_in > 0);
            }
        }
    }
    return tally;
}

ResultRows slowed(const ResultRows& rows, const Plan& plan) {
    Results none;
    ResultRows out = rows_of(none, rows.name);
    out.rows = rows.rows;
    out.problems = rows.problems;
    out.origins = rows.origins;
    out.rounds_us = rows.rounds_us;
    for (std::size_t id = 0; id < rows.texts.size(); ++id) {
        out.texts.intern(rows.texts[static_cast<TextId>(id)]);
    }
    for (std::size_t i = 0; plan.one_in > 0 && i < out.rows.size(); i += static_cast<std::size_t>(plan.one_in)) {
        ResultRow& row = out.rows[i];
        for (std::size_t k = 0; k < row.rounds; ++k) {
            out.rounds_us[row.first_round + k] *= 1 + plan.slowdown;
        }
        row.p50_us *= 1 + plan.slowdown;
    }
    return out;
}

/// Every ordered pair of the recorded sweeps of one selection in a folder.
Tally recorded(const std::string& folder, const Plan& plan) {
    std::vector<ResultRows> sweeps;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        sweeps.push_back(read_result_rows(entry.path().string()));
    }
    Tally tally;
    for (const ResultRows& before : sweeps) {
        for (const ResultRows& other : sweeps) {
            if (&before == &other) {
                continue;
            }
            const ResultRows after = slowed(other, plan);
            const Comparison comparison = compare(before, after, settings());
            for (const Pair& pair : comparison.pairs) {
                if (pair.judged() && pair.before > 10 && (plan.one_in == 0 || pair.candidate % static_cast<unsigned>(plan.one_in) == 0)) {
                    tally.add(pair, plan.one_in > 0);
                }
            }
        }
    }
    return tally;
}

template <typename Count>
void print_noise(std::string_view name, const Count& count) {
    fmt::print("| {} | {} |", name, count(plans[0]).count());
    for (std::size_t i = 1; i < std::size(plans); ++i) {
        fmt::print(" {} |", count(plans[i]).percent());
    }
    fmt::print("\n");
}

/// Pairs that are not of the same code; planted ones above 10 µs.
Tally disturbed(const DisturbedRuns& runs, Disturbance disturbance, const KnownOfRuns& known, const Planted& planted) {
    constexpr std::uint64_t comparisons = 60;
    Tally tally;
    for (std::uint64_t seed = 0; seed < comparisons; ++seed) {
        const auto [before, after] = runs.draw(disturbance, known, planted, seed);
        const Comparison comparison = compare(before, after, {});
        for (const Pair& pair : comparison.pairs) {
            const bool counts = planted.slowdown > 0 ? runs.is_planted(pair, known, planted, seed) && pair.before > 10 : !pair.same_code;
            if (pair.judged() && counts) {
                tally.add(pair, planted.slowdown > 0);
            }
        }
    }
    return tally;
}

/// By NoiseShape.
constexpr std::string_view noise_texts[] = {"normal", "skewed", "drifting by 1.8% in a run", "two states 1.8% apart",
                                            "5% of the rounds 10-50% longer"};

}  // namespace

int main() {
    const std::filesystem::path data = std::filesystem::path(NORMTUNE_SOURCE_DIR) / "tests/data/repeated";
    fmt::print(
        "# Noise\n\n"
        "| noise | equal pairs called | 3% slower found, all pairs slower | 3%, one in ten | 5%, all | 5%, one in ten |\n"
        "|---|--:|--:|--:|--:|--:|\n");
    for (std::size_t i = 0; i < noise_shape_names.names.size(); ++i) {
        print_noise(noise_texts[i], [&](const Plan& plan) { return synthetic(static_cast<NoiseShape>(i), plan); });
    }
    for (const auto& [name, what] : {std::pair("cpu", "a busy CPU of two cores"),
                                     {"h100_a", "an H100"},
                                     {"h100_b", "another H100"},
                                     {"h100_c", "a third H100"},
                                     {"h200_a", "an H200"},
                                     {"h200_b", "the same H200, again"}}) {
        print_noise(fmt::format("recorded on {}", what), [&](const Plan& plan) { return recorded((data / name).string(), plan); });
    }
    const DisturbedRuns runs((data / "h100_a").string());
    struct Case {
        std::string_view name;
        KnownOfRuns known;
    };
    const Case cases[] = {{"one run a side", {1, false}},
                          {"one run, half of the trials of the same code", {1, true}},
                          {"three runs a side", {3, false}},
                          {"three runs, half of the same code", {3, true}}};
    fmt::print(
        "\n# Disturbances\n\n| recorded on an H100, and | known | equal pairs called | 2% slower found, one in ten | 3% | 3%, "
        "another one in ten 3% faster |\n|---|---|--:|--:|--:|--:|\n");
    for (std::size_t i = 0; i < disturbance_names.names.size(); ++i) {
        const auto disturbance = static_cast<Disturbance>(i);
        for (const Case& it : cases) {
            const Tally equal = disturbed(runs, disturbance, it.known, {});
            fmt::print("| {} | {} | {} ({}) | {} | {} | {} |\n", disturbance_names.names[i], it.name, equal.count(), equal.percent(),
                       disturbed(runs, disturbance, it.known, {0.02, 10}).percent(),
                       disturbed(runs, disturbance, it.known, {0.03, 10}).percent(),
                       disturbed(runs, disturbance, it.known, {0.03, 10, true}).percent());
        }
    }
    return 0;
}
