#include "report/page/run_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "support/pattern.h"

namespace normtune {
namespace {

std::vector<std::string> providers_of(const std::vector<ProblemRanking>& rankings) {
    std::vector<std::string> out;
    for (const ProblemRanking& ranking : rankings) {
        for (const Standing& standing : ranking.standings) {
            const std::string_view provider = standing.record->candidate.provider();
            if (std::find(out.begin(), out.end(), provider) == out.end()) {
                out.emplace_back(provider);
            }
        }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const std::string& a, const std::string& b) { return (a == own_provider) > (b == own_provider); });
    return out;
}

/// The provider's winner; where it has none, what is least slower than the problem's.
const Standing* best_of(const ProblemRanking& ranking, std::string_view provider) {
    const Standing* best = nullptr;
    const auto place = [&](const Standing& one) { return std::tuple(one.record != ranking.winner, one.ratio); };
    for (const Standing& standing : ranking.standings) {
        if (standing.record->candidate.provider() == provider && (best == nullptr || place(standing) < place(*best))) {
            best = &standing;
        }
    }
    return best;
}

bool has_own(const std::vector<std::string>& providers) {
    return !providers.empty() && providers.front() == own_provider;
}

}  // namespace

std::pair<std::string, std::string> operation_and_shape(std::string_view problem_key) {
    constexpr std::size_t shape_place = 4;
    std::string operation;
    std::string shape;
    const std::vector<std::string_view> parts = split(problem_key, '/');
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t by = parts[i].find('x');
        if (i == shape_place && by != std::string_view::npos) {
            shape = std::string(parts[i].substr(0, by)) + "×" + std::string(parts[i].substr(by + 1));
        } else {
            operation += (operation.empty() ? "" : "/") + std::string(parts[i]);
        }
    }
    return {operation, shape};
}

RunView::RunView(const Results& of)
    : results(of), rankings(problem_rankings(of)), providers(providers_of(rankings)), heuristics(named_thumb_rules()) {
    for (const ProblemRanking& ranking : rankings) {
        ProblemView& problem = problems.emplace_back();
        problem.ranking = &ranking;
        std::tie(problem.group, problem.shape) = operation_and_shape(ranking.problem().key());
        for (const std::string& provider : providers) {
            problem.best_of.push_back(best_of(ranking, provider));
        }
        for (const ThumbRule& heuristic : heuristics) {
            problem.heuristic.push_back(heuristic.obeying(ranking).best);
        }
    }
    if (!rankings.empty()) {
        axes = axis_effects(rankings);
    }
    if (has_own(providers)) {
        audit = normtune::audit(std::span(&results, 1), named_thumb_rules(), default_audit_rules());
    }
}

std::vector<std::pair<std::string, std::vector<const ProblemView*>>> RunView::by_group() const {
    std::vector<std::pair<std::string, std::vector<const ProblemView*>>> out;
    std::map<std::string_view, std::size_t> places;
    for (const ProblemView& problem : problems) {
        const auto [place, fresh] = places.try_emplace(problem.group, out.size());
        if (fresh) {
            out.emplace_back(problem.group, std::vector<const ProblemView*>());
        }
        out[place->second].second.push_back(&problem);
    }
    for (auto& [group, members] : out) {
        std::stable_sort(members.begin(), members.end(), [](const ProblemView* a, const ProblemView* b) {
            const auto size = [](const ProblemView* one) {
                const Shape& shape = one->ranking->problem().shape;
                return std::tuple(shape.cols, shape.rows);
            };
            return size(a) < size(b);
        });
    }
    return out;
}

}  // namespace normtune
