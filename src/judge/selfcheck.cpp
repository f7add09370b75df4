#include "judge/selfcheck.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr double power = 0.95;
constexpr double most_of_them = 0.9;
constexpr double least_threshold = 0.01;
constexpr double step = 0.005;  // thresholds are rounded up to half a percent

/// log of the smallest slowdown that would be called with probability `power`: the interval has to leave out 1 and the
/// ratio has to reach the threshold, both with room for the ratio's own error.
double detectable(const Pair& pair, double threshold) {
    const double room = student_t_quantile(1 - power, static_cast<int>(pair.degrees)) * pair.error;
    const double half_interval = std::log(pair.high / pair.ratio);
    return std::max(half_interval, std::log1p(threshold)) + room;
}

double rounded_up(double change) {
    return std::max(least_threshold, std::ceil(change / step - 1e-9) * step);
}

}  // namespace

SelfCheck check_itself(std::span<const ResultRows> sweeps, CompareSettings settings) {
    settings.judge_same_code = true;  // that it is the same is known; what is asked is how often compare would be wrong
    SelfCheck out;
    out.sweeps = sweeps.size();
    std::vector<double> changes;
    std::map<std::string, std::vector<double>> changes_of;
    std::vector<double> squares;  // of log(ratio)
    std::vector<double> explained;
    for (std::size_t i = 0; i < sweeps.size(); ++i) {
        for (std::size_t j = i + 1; j < sweeps.size(); ++j) {
            const Comparison comparison = compare(sweeps[i], sweeps[j], settings);
            if (!comparison.not_comparable.empty()) {
                out.not_comparable = comparison.not_comparable;
                continue;
            }
            ++out.comparisons;
            const double between = comparison.run_to_run.deviation * comparison.run_to_run.deviation;
            for (const Pair& pair : comparison.pairs) {
                if (!pair.judged() || std::isnan(pair.ratio)) {
                    continue;
                }
                ++out.pairs;
                out.called += pair.verdict == Verdict::slower || pair.verdict == Verdict::faster ? 1U : 0U;
                out.ambiguous += pair.verdict == Verdict::ambiguous ? 1U : 0U;
                changes.push_back(std::expm1(detectable(pair, settings.threshold)));
                changes_of[std::string(comparison.text(pair, &RowProblem::key))].push_back(changes.back());
                squares.push_back(std::log(pair.ratio) * std::log(pair.ratio));
                explained.push_back(std::max(0.0, pair.error * pair.error - between));
            }
        }
    }
    if (changes.empty()) {
        return out;
    }
    out.not_comparable.clear();
    out.run_to_run = std::sqrt(std::max(0.0, median(squares) / (normal_median * normal_median) - median(explained)));
    out.usual_change = median(changes);
    // Most problems set the threshold, not the noisiest of them.
    std::vector<double> of_problems;
    of_problems.reserve(changes_of.size());
    for (const auto& [key, of_problem] : changes_of) {
        of_problems.push_back(quantile(of_problem, most_of_them));
    }
    out.percent_threshold = rounded_up(median(of_problems));
    for (const auto& [key, of_problem] : changes_of) {
        const double change = rounded_up(quantile(of_problem, most_of_them));
        if (change > out.percent_threshold) {
            out.noisier.push_back({key, change});
        }
    }
    return out;
}

std::string policy_from(const SelfCheck& sweeps, const SelfCheck& twins, std::string_view name, std::string_view remark) {
    const double percent = std::max(sweeps.percent_threshold, twins.percent_threshold);
    std::map<std::string, double> noisier;
    for (const SelfCheck* check : {&sweeps, &twins}) {
        for (const SelfCheck::Problem& problem : check->noisier) {
            noisier[problem.key] = std::max(noisier[problem.key], problem.change);
        }
    }
    std::erase_if(noisier, [&](const auto& problem) { return problem.second <= percent; });
    std::string out = fmt::format(
        "# {}\n# {} sweeps of the same code, {} pairs: {} called faster or slower, {} ambiguous.\n"
        "# In the same rounds, {} pairs: {} called faster or slower, {} ambiguous.\nname: {}\n"
        "percent: {:.1f}\nrun_to_run_percent: {:.2f}\n",
        remark, sweeps.sweeps, sweeps.pairs, sweeps.called, sweeps.ambiguous, twins.pairs, twins.called, twins.ambiguous, name,
        percent * 100, std::max(sweeps.run_to_run, CompareSettings{}.run_to_run) * 100);
    if (!noisier.empty()) {
        out += "thresholds:\n  - {metric: memory, percent: 0}\n";
        for (const auto& [key, change] : noisier) {
            out += fmt::format("  - {{problem: \"{}\", percent: {:.1f}}}\n", key, change * 100);
        }
    }
    return out;
}

}  // namespace normtune
