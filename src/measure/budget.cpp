#include "measure/budget.h"

#include <algorithm>
#include <cmath>

namespace normtune {

namespace {

/// Of the budget, kept for second looks.
constexpr double reserve = 0.1;
/// Taken for a problem whose limit could not be measured.
constexpr double unknown_limit_ratio = 1.2;
/// Even a problem at the copy's speed has something to gain: gaps below a copy's own noise are not seen.
constexpr double least_gain = 1e-3;

}  // namespace

double promise(const ProblemState& state) {
    if (state.missing == 0) {
        return 0;
    }
    const double ratio = state.limit_ratio > 0 ? state.limit_ratio : unknown_limit_ratio;
    const double untried = static_cast<double>(state.missing) / static_cast<double>(state.trials);
    return std::max(std::log(ratio), least_gain) * untried;
}

std::optional<Slice> even_slice(std::span<const ProblemState> problems, double left_s) {
    const auto to_visit = std::count_if(problems.begin(), problems.end(), [](const ProblemState& state) { return !state.visited; });
    const auto next = std::find_if(problems.begin(), problems.end(), [](const ProblemState& state) { return !state.visited; });
    if (next == problems.end()) {
        return std::nullopt;
    }
    return Slice{static_cast<std::size_t>(next - problems.begin()), std::max(0.0, left_s) / static_cast<double>(to_visit)};
}

std::optional<Slice> promising_slice(std::span<const ProblemState> problems, double budget_s, double left_s) {
    if (left_s <= 0) {
        return std::nullopt;
    }
    double to_visit = 0;
    double total = 0;
    std::optional<std::size_t> fresh;
    std::size_t most = 0;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        if (!problems[i].visited) {
            to_visit += static_cast<double>(problems[i].missing + 8);
            fresh = fresh.value_or(i);
        }
        total += promise(problems[i]);
        most = promise(problems[i]) > promise(problems[most]) ? i : most;
    }
    if (fresh) {
        const double of_all = static_cast<double>(problems[*fresh].missing + 8) / to_visit;
        return Slice{*fresh, std::max(0.0, left_s - reserve * budget_s) * of_all};
    }
    if (total <= 0 || left_s < least_slice_s) {
        return std::nullopt;
    }
    return Slice{most, std::min(left_s, std::max(left_s * promise(problems[most]) / total, least_slice_s))};
}

}  // namespace normtune
