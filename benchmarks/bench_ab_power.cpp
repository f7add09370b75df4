// How often `normtune ab` finds a slowdown that was planted, and how often it calls equal code changed: prints both tables of docs/ab.md,
// from the noise of recorded sweeps. On a GPU scripts/check_gpu ab measures the same.
#include <iterator>

#include <fmt/format.h>

#include "judge/ab_noise.h"

using namespace normtune;
using namespace normtune::testing;

namespace {

constexpr std::uint64_t draws = 40;  // of each device's trials

std::string percent(const AbTally& tally, std::size_t count) {
    return tally.pairs == 0 ? "-" : fmt::format("{:.4g}% of {}", 100 * tally.share(count), tally.pairs);
}

AbTallies count(const std::vector<AbNoise>& devices, const AbCase& of, const AbPlanted& planted) {
    CompareSettings settings;
    settings.threshold = 0.005;
    settings.margin = 0.005;
    AbTallies out;
    for (const AbNoise& device : devices) {
        for (std::uint64_t seed = 0; seed < draws; ++seed) {
            device.count(of, planted, settings, seed, out);
        }
    }
    return out;
}

}  // namespace

int main() {
    const std::string folder = std::string(NORMTUNE_SOURCE_DIR) + "/tests/data/repeated/";
    std::vector<AbNoise> devices;
    devices.emplace_back(folder + "h100_a");
    devices.emplace_back(folder + "h100_b");
    fmt::print(
        "| noise of two H100s, and | planted | found above 10 us: in all pairs | in one in ten | found below 10 us: in all | in one in ten "
        "|\n"
        "|---|--:|--:|--:|--:|--:|\n");
    AbTallies equal[std::size(ab_cases)];
    for (std::size_t i = 0; i < std::size(ab_cases); ++i) {
        equal[i] = count(devices, ab_cases[i], {});
        for (const double slowdown : {0.005, 0.01, 0.02, 0.03}) {
            const AbTallies all = count(devices, ab_cases[i], {slowdown, 1});
            const AbTallies some = count(devices, ab_cases[i], {slowdown, 10});
            const auto found = [](const AbTally& tally) { return percent(tally, tally.slower); };
            fmt::print("| {} | {:.2g}% | {} | {} | {} | {} |\n", ab_cases[i].name, slowdown * 100, found(all.planted_long),
                       found(some.planted_long), found(all.planted_short), found(some.planted_short));
        }
    }
    fmt::print("\n| noise of two H100s, and | equal pairs called | equal pairs ambiguous |\n|---|--:|--:|\n");
    for (std::size_t i = 0; i < std::size(ab_cases); ++i) {
        const AbTally& it = equal[i].equal;
        fmt::print("| {} | {} | {} |\n", ab_cases[i].name, percent(it, it.slower + it.faster), percent(it, it.ambiguous));
    }
    return 0;
}
