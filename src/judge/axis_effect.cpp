#include "judge/axis_effect.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "measure/ranking.h"
#include "space/axes.h"
#include "support/error.h"
#include "trial/kernel_folder.h"

namespace normtune {
namespace {

/// The names and values of a candidate's axes.
std::vector<std::pair<std::string, std::string>> axes_of(const Candidate& candidate) {
    const Configuration* own = candidate.configuration();
    if (own == nullptr) {
        return tunables_of(candidate.key());
    }
    std::vector<std::pair<std::string, std::string>> out;
    for (const AxisRow& row : axis_table) {
        out.emplace_back(row.name, axis_text(row.axis, axis_value(*own, row.axis)));
    }
    return out;
}

/// Numbers as numbers, words after them.
bool before(const std::string& a, const std::string& b) {
    const auto number = [](const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        return *end == '\0' ? value : std::numeric_limits<double>::infinity();
    };
    return std::tuple(number(a), a) < std::tuple(number(b), b);
}

struct Best {
    const Standing* of_all = nullptr;
    std::map<std::string, const Standing*> of_value;
};
void keep_faster(const Standing*& best, const Standing& one, const Record* winner) {
    best = precedes(one, best, winner) ? &one : best;
}

/// Half the 95% interval of log(one / best). Finalists have rounds of their own to pair, whoever won; of others both are against the
/// winner of the problem, and their errors are taken as independent.
double half_width_against(const Standing& one, const Standing& best) {
    const std::vector<double>& its = one.record->measurement->final_rounds_us;
    const std::vector<double>& best_us = best.record->measurement->final_rounds_us;
    if (its.size() > 1 && best_us.size() > 1) {
        return paired_half_width(its, best_us);
    }
    const auto half = [](const TimeRatio& time) { return std::log(time.high / time.low) / 2; };
    return std::hypot(half(one), half(best));
}

LossEstimate loss_against(const Standing& one, const Standing& best) {
    const double loss = one.ratio / best.ratio - 1;
    return {loss, &one == &best ? 0 : (1 + loss) * half_width_against(one, best)};
}

/// Of one axis: of each problem, by provider.
using BestByProblem = std::vector<std::map<std::string, Best>>;

struct Collected {
    std::vector<std::string> names;  // of all axes that were measured
    std::map<std::string, BestByProblem> axes;
};

/// Of the axis `only`; of all where it is empty.
Collected collect(std::span<const ProblemRanking> rankings, const std::string& only) {
    Collected out;
    for (std::size_t i = 0; i < rankings.size(); ++i) {
        for (const Standing& standing : rankings[i].standings) {
            const std::string provider(standing.record->candidate.provider());
            for (const auto& [name, value] : axes_of(standing.record->candidate)) {
                const auto [its, fresh] = out.axes.try_emplace(name);
                if (fresh) {
                    out.names.push_back(name);
                    its->second.resize(only.empty() || only == name ? rankings.size() : 0);
                }
                if (!its->second.empty()) {
                    Best& best = its->second[i][provider];
                    keep_faster(best.of_all, standing, rankings[i].winner);
                    keep_faster(best.of_value[value], standing, rankings[i].winner);
                }
            }
        }
    }
    return out;
}

AxisEffect effect_of(std::span<const ProblemRanking> rankings, const std::string& axis, const BestByProblem& best) {
    AxisEffect out;
    out.axis = axis;
    out.device = rankings.front().device();
    for (const ProblemRanking& ranking : rankings) {
        out.problems.push_back(ranking.problem().key());
    }
    std::map<std::tuple<std::string, Op, Mode, std::string>, std::size_t> places;  // of out.values
    for (std::size_t i = 0; i < rankings.size(); ++i) {
        const Operation& operation = rankings[i].problem().operation;
        for (const auto& [provider, its] : best[i]) {
            for (const auto& [value, fastest] : its.of_value) {
                const std::size_t next = out.values.size();
                const auto place = places.try_emplace({provider, operation.op, operation.mode, value}, next).first->second;
                if (place == next) {
                    AxisValueEffect& fresh = out.values.emplace_back();
                    fresh.provider = provider;
                    fresh.op = op_names.name(operation.op);
                    fresh.mode = mode_names.name(operation.mode);
                    fresh.value = value;
                }
                const LossEstimate loss = loss_against(*fastest, *its.of_all);
                out.values[place].add(out.problems[i], loss);
                out.values[place].losses.push_back({i, loss.loss});
                out.values[place].best_on += fastest == its.of_all ? 1 : 0;
            }
        }
    }
    std::sort(out.values.begin(), out.values.end(), [](const AxisValueEffect& a, const AxisValueEffect& b) {
        const auto group = [](const AxisValueEffect& one) { return std::tie(one.provider, one.op, one.mode); };
        return group(a) != group(b) ? group(a) < group(b) : before(a.value, b.value);
    });
    return out;
}

}  // namespace

AxisEffect axis_effect(std::span<const Results> runs, const std::string& axis) {
    const CountedRankings counted = counted_rankings(runs, Whose::all);
    const std::vector<ProblemRanking>& rankings = counted.rankings;
    const Collected collected = collect(rankings, axis);
    const auto found = collected.axes.find(axis);
    if (found == collected.axes.end()) {
        std::vector<std::string_view> names(collected.names.begin(), collected.names.end());
        std::sort(names.begin(), names.end());
        throw InputError(fmt::format("nothing that was measured has an axis or a tunable {}{}", quoted_for_message(axis),
                                     suggestion(axis, names.data(), names.data() + names.size())));
    }
    AxisEffect out = effect_of(rankings, axis, found->second);
    out.repeats = counted.repeats;
    return out;
}

std::vector<AxisEffect> axis_effects(std::span<const ProblemRanking> rankings) {
    const Collected collected = collect(rankings, "");
    std::vector<std::string> names = collected.names;
    std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return axis_names.find(name).has_value(); });
    std::vector<AxisEffect> out;
    for (const std::string& name : names) {
        out.push_back(effect_of(rankings, name, collected.axes.at(name)));
    }
    return out;
}

}  // namespace normtune
