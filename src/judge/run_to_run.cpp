#include "judge/run_to_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "judge/match.h"
#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr std::size_t least_pairs = 12;        // for their spread to say something
constexpr std::size_t least_copies = 5;        // for a median of them; fewer: root mean square
constexpr double shortest_copy_us = 5;         // shorter ones are mostly launch
constexpr double most_floor_change_us = 2;     // more is no launch but a busy machine
constexpr double most_spread_over_copies = 3;  // kernels may vary more than copies, but not without end
constexpr double usual_on_a_cpu = 0.015;       // of recorded sweeps (tests/data/repeated/cpu), where nothing else tells
constexpr double other_copy = 0.04;            // what the best of several copies in one run and the best in another lie apart, at most

/// What the copy took beside the pair's trial, as the trial's own time is taken: the mean over the processes of the side, without what
/// their floors were above the baseline's. NaN: it was not measured.
double copy_us(const Comparison& comparison, const Pair& pair, std::size_t side) {
    double logs = 0;
    int runs = 0;
    for_each_run(comparison, side, pair, [&](const ResultRow& row) {
        if (const double us = double{row.limit_us} - comparison.floors.above(side, row.process); us > 0) {
            logs += std::log(us);
            ++runs;
        }
    });
    return runs > 0 ? std::exp(logs / runs) : no_value;
}

/// log(ratio) of the copies, one a problem.
std::vector<double> copy_changes(const Comparison& comparison) {
    struct Sum {
        double log_ratio = 0;
        double shortest_us = 0;
        int count = 0;
    };
    std::unordered_map<std::uint32_t, Sum> sums;
    for (const Pair& pair : comparison.pairs) {
        if (!pair.judged()) {
            continue;
        }
        const double a = copy_us(comparison, pair, 0);
        const double b = copy_us(comparison, pair, 1);
        if (a > 0 && b > 0) {
            Sum& sum = sums[comparison.baseline_row(pair)->problem];
            sum.log_ratio += std::log(b / a);
            sum.shortest_us = sum.count == 0 ? std::min(a, b) : std::min({sum.shortest_us, a, b});
            ++sum.count;
        }
    }
    std::vector<double> long_ones;
    std::vector<double> all;
    for (const auto& [problem, sum] : sums) {
        all.push_back(sum.log_ratio / sum.count);
        if (sum.shortest_us >= shortest_copy_us) {
            long_ones.push_back(all.back());
        }
    }
    return long_ones.empty() ? all : long_ones;
}

/// Standard deviation about the median, from the median distance to it where there are enough.
double deviation_about(double middle, std::vector<double> values) {
    for (double& value : values) {
        value = std::abs(value - middle);
    }
    if (values.size() >= least_copies) {
        return median(values) / normal_median;
    }
    double squares = 0;
    for (const double value : values) {
        squares += value * value;
    }
    return std::sqrt(squares / static_cast<double>(values.size()));
}

bool on_a_cpu(const Comparison& comparison) {
    const ResultRows& rows = *comparison.baseline;
    return !rows.origins.empty() && std::ranges::all_of(rows.origins, [&](const RowOrigin& origin) {
        const std::string_view arch = rows.text(origin.arch);
        return arch.starts_with("x86-64") || arch.starts_with("aarch64");
    });
}

}  // namespace

Floors find_floors(const Comparison& comparison) {
    Floors out;
    std::array<std::vector<std::vector<double>>, 2> of_processes;
    std::array<double, 2> of_sides{};
    const std::array<const ResultRows*, 2> sides{comparison.baseline, comparison.candidate};
    for (std::size_t side = 0; side < 2; ++side) {
        std::vector<double> all;
        std::size_t processes = 1;
        for (const ResultRow& row : sides[side]->rows) {
            processes = std::max<std::size_t>(processes, row.process + 1U);
            if (row.floor_us > 0) {
                all.push_back(double{row.floor_us});
            }
        }
        of_processes[side].resize(processes);
        for (const ResultRow& row : sides[side]->rows) {
            if (row.floor_us > 0 && processes > 1) {
                of_processes[side][row.process].push_back(double{row.floor_us});
            }
        }
        of_sides[side] = all.empty() ? no_value : median(all);
    }
    out.before_us = of_sides[0];
    out.after_us = of_sides[1];
    if (std::isnan(out.before_us) || std::isnan(out.after_us)) {
        return out;
    }
    for (std::size_t side = 0; side < 2; ++side) {
        for (const std::vector<double>& floors : of_processes[side]) {
            const double above = (floors.empty() ? of_sides[side] : median(floors)) - out.before_us;
            const bool of_launches = std::abs(above) > comparison.settings.run_to_run_us && std::abs(above) <= most_floor_change_us;
            out.above_us[side].push_back(of_launches ? above : 0);
        }
    }
    return out;
}

/// In all processes of both sides, as far as they tell.
bool same_copy(const Comparison& comparison, const Pair& pair) {
    std::uint8_t told = 0;
    bool same = true;
    for (const std::size_t side : {0U, 1U}) {
        for_each_run(comparison, side, pair, [&](const ResultRow& row) {
            same = same && (row.copy == 0 || told == 0 || row.copy == told);
            told = row.copy == 0 ? told : row.copy;
        });
    }
    return same;
}

double disturbance(const Comparison& comparison, const Pair& pair) {
    constexpr double usual_deviations = 2;
    const double a = copy_us(comparison, pair, 0);
    const double b = copy_us(comparison, pair, 1);
    if (!(a >= shortest_copy_us && b >= shortest_copy_us)) {
        return 0;
    }
    const RunToRun& usual = comparison.run_to_run;
    const double change = std::abs(std::log(b / a) - std::log(usual.copy_ratio));
    const double usually = usual_deviations * std::max(usual.copy_deviation, comparison.settings.run_to_run);
    return std::max(0.0, change - usually - (same_copy(comparison, pair) ? 0 : other_copy));
}

double launch_shift(const Comparison& comparison, const Pair& pair, double assumed_us) {
    const double a = copy_us(comparison, pair, 0);
    const double b = copy_us(comparison, pair, 1);
    if (!(a > 0 && b > 0 && std::min(a, b) < shortest_copy_us)) {
        return 0;
    }
    // Two copies of the same problem scatter as two kernels do.
    const double moved_us = std::max(0.0, std::abs(b - a) - assumed_us);
    return std::log1p(moved_us / std::min(pair.before, pair.after));
}

double densest_half_deviation(std::vector<double> values) {
    constexpr double normal_half = 1.3489795003921634;  // its length in standard deviations
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    double shortest = HUGE_VAL;
    for (std::size_t i = 0; i + half < values.size(); ++i) {
        shortest = std::min(shortest, values[i + half] - values[i]);
    }
    return std::isinf(shortest) ? 0 : shortest / normal_half;
}

RunToRun find_run_to_run(const Comparison& comparison, std::span<const RatioSample> ratios) {
    RunToRun out;
    out.deviation = comparison.settings.run_to_run;
    const std::vector<double> copies = copy_changes(comparison);
    out.copies = copies.size();
    if (!copies.empty()) {
        const double middle = median(copies);
        out.copy_ratio = std::exp(middle);
        out.copy_deviation = deviation_about(middle, copies);
        out.shift_variance = std::numbers::pi / 2 * out.copy_deviation * out.copy_deviation / static_cast<double>(copies.size());
        out.deviation = std::max(out.deviation, out.copy_deviation);
    }
    out.told = copies.size() >= least_copies || ratios.size() >= least_pairs;
    const bool as_usual = comparison.settings.run_to_run == CompareSettings{}.run_to_run;  // a policy may know better
    if (!out.told && as_usual && on_a_cpu(comparison)) {
        out.deviation = std::max(out.deviation, usual_on_a_cpu);
    }
    if (ratios.size() >= least_pairs) {
        std::vector<double> changes;
        std::vector<double> explained;
        for (const RatioSample& sample : ratios) {
            changes.push_back(sample.log_ratio);
            explained.push_back(sample.variance);
        }
        const double total = densest_half_deviation(std::move(changes));
        const auto middle = explained.begin() + static_cast<std::ptrdiff_t>(explained.size() / 2);
        std::nth_element(explained.begin(), middle, explained.end());
        out.spread = std::sqrt(std::max(0.0, total * total - *middle));
        out.deviation = std::max(comparison.settings.run_to_run, std::min(out.spread, most_spread_over_copies * out.deviation));
    }
    return out;
}

}  // namespace normtune
