#include "judge/axis_effect.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

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

}  // namespace

AxisEffect axis_effect(std::span<const Results> runs, const std::string& axis) {
    AxisEffect out;
    out.axis = axis;
    const std::vector<ProblemRanking> rankings = problem_rankings(runs, Whose::all);
    std::set<std::string> known;
    struct Best {
        double of_all = std::numeric_limits<double>::infinity();
        std::map<std::string, double> of_value;
    };
    std::vector<std::map<std::string, Best>> best(rankings.size());  // by provider
    for (std::size_t i = 0; i < rankings.size(); ++i) {
        out.problems.push_back(rankings[i].problem().key());
        for (const Standing& standing : rankings[i].standings) {
            for (const auto& [name, value] : axes_of(standing.record->candidate)) {
                known.insert(name);
                if (name == axis) {
                    Best& its = best[i][std::string(standing.record->candidate.provider())];
                    its.of_all = std::min(its.of_all, standing.ratio);
                    its.of_value[value] = std::min(its.of_value.try_emplace(value, standing.ratio).first->second, standing.ratio);
                }
            }
        }
    }
    if (!known.contains(axis)) {
        const std::vector<std::string_view> names(known.begin(), known.end());
        throw InputError(fmt::format("nothing that was measured has an axis or a tunable {}{}", quoted_for_message(axis),
                                     suggestion(axis, names.data(), names.data() + names.size())));
    }
    out.device = rankings.front().device();
    std::map<std::tuple<std::string, Op, Mode, std::string>, std::size_t> places;  // of out.values
    for (std::size_t i = 0; i < rankings.size(); ++i) {
        const Operation& operation = rankings[i].problem().operation;
        for (const auto& [provider, its] : best[i]) {
            for (const auto& [value, ratio] : its.of_value) {
                const std::size_t next = out.values.size();
                const auto place = places.try_emplace({provider, operation.op, operation.mode, value}, next).first->second;
                if (place == next) {
                    AxisValueEffect& fresh = out.values.emplace_back();
                    fresh.provider = provider;
                    fresh.op = op_names.name(operation.op);
                    fresh.mode = mode_names.name(operation.mode);
                    fresh.value = value;
                }
                out.values[place].add(out.problems[i], ratio / its.of_all - 1);
                out.values[place].best_on += ratio == its.of_all ? 1 : 0;
            }
        }
    }
    std::sort(out.values.begin(), out.values.end(), [](const AxisValueEffect& a, const AxisValueEffect& b) {
        const auto group = [](const AxisValueEffect& one) { return std::tie(one.provider, one.op, one.mode); };
        return group(a) != group(b) ? group(a) < group(b) : before(a.value, b.value);
    });
    return out;
}

}  // namespace normtune
