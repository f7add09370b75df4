// What reports ask a comparison about its pairs.
#include "judge/comparison.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/comparable.h"
#include "judge/match.h"
#include "measure/statistics.h"

namespace normtune {

std::uint64_t Comparison::count(Verdict verdict) const {
    return static_cast<std::uint64_t>(std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return pair.verdict == verdict; }));
}

const ResultRow* Comparison::baseline_row(const Pair& pair) const {
    return pair.baseline == no_row ? nullptr : &baseline->rows[pair.baseline];
}

const ResultRow* Comparison::candidate_row(const Pair& pair) const {
    return pair.candidate == no_row ? nullptr : &candidate->rows[pair.candidate];
}

double Comparison::threshold_of(const Pair& pair) const {
    return settings.own_threshold ? settings.own_threshold(*this, pair) : settings.threshold;
}

double Comparison::floor_change_us(const Pair& pair) const {
    const auto above = [&](std::size_t side) {
        double sum = 0;
        int runs = 0;
        for_each_run(*this, side, pair, [&](const ResultRow& row) {
            sum += floors.above(side, row.process);
            ++runs;
        });
        return runs > 0 ? sum / runs : 0;
    };
    return above(1) - above(0);
}

bool Comparison::all_same_code() const {
    return count(Verdict::same_code) > 0 && std::none_of(pairs.begin(), pairs.end(), [](const Pair& pair) {
               return pair.judged() && !std::isnan(pair.ratio) && !pair.same_code;
           });
}

int Comparison::runs_to_find(double change) const {
    constexpr double normal_95 = 1.6448536269514722;
    constexpr int most = 99;
    for (int runs = side_by_side ? 2 : 1; runs <= most; ++runs) {
        const int degrees = (side_by_side ? 1 : 2) * (runs - 1) + static_cast<int>(usual_degrees);
        if (degrees < 1) {
            continue;
        }
        const double t = student_t_quantile(std::min(0.5, (1 - coverage) / 2), degrees);
        if ((t + normal_95) * of_a_run * std::sqrt(2.0 / runs) <= std::log1p(change)) {
            return runs;
        }
    }
    return 0;
}

const RowProblem& Comparison::problem(const Pair& pair) const {
    const ResultRow* const after = candidate_row(pair);
    return after != nullptr ? candidate->problem_of(*after) : baseline->problem_of(*baseline_row(pair));
}

std::string_view Comparison::text(const Pair& pair, TextId RowProblem::*member) const {
    const ResultRows& side = pair.candidate != no_row ? *candidate : *baseline;
    return side.text(problem(pair).*member);
}

std::string Comparison::configuration(const Pair& pair) const {
    const ResultRow* const before = baseline_row(pair);
    const ResultRow* const after = candidate_row(pair);
    const std::string_view old = before != nullptr ? baseline->text(before->configuration) : std::string_view();
    const std::string_view now = after != nullptr ? candidate->text(after->configuration) : std::string_view();
    return old.empty() || now.empty() || old == now ? std::string(old.empty() ? now : old) : fmt::format("{} → {}", old, now);
}

std::string Comparison::note(const Pair& pair) const {
    std::string out;
    const auto add = [&](const std::string& part) { out += out.empty() ? part : "; " + part; };
    const auto failed = [&](const ResultRows& side, const ResultRow* row, std::string_view which) {
        if (row != nullptr && row->outcome != Outcome::passed) {
            const std::string_view reason = side.text(row->reason);
            add(fmt::format("{} {}{}{}", which, outcome_names.name(row->outcome), reason.empty() ? "" : ": ", reason));
        }
    };
    failed(*baseline, baseline_row(pair), "baseline");
    failed(*candidate, candidate_row(pair), "candidate");
    for (std::size_t i = 0; i < facet_names.names.size(); ++i) {
        if ((pair.differs & facet_bit(static_cast<Facet>(i))) != 0) {
            add(fmt::format("{} differs", facet_names.names[i]));
        }
    }
    if (pair.both_ways) {
        add("as many moved the other way by as much: several runs a side tell");
    }
    if (pair.may_be_unstable) {
        add("hardly any other moved that way, so its trial may be unstable from run to run: several runs a side tell");
    }
    if (pair.evidence == Evidence::quantiles) {
        add("rests on quantiles");
    }
    return out;
}

}  // namespace normtune
