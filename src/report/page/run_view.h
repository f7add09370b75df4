// One run as its plots and its page need it: judged once. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/audit.h"
#include "judge/axis_effect.h"

namespace normtune {

struct ProblemView {
    const ProblemRanking* ranking = nullptr;
    std::string group;                       // the operation: its key's parts but the shape
    std::string shape;                       // "8192×4096"
    std::vector<const Standing*> best_of;    // as RunView::providers; null: it was not measured here
    std::vector<const Standing*> heuristic;  // the best that obeys, as RunView::heuristics; null: none does

    const Measurement& winner() const { return *ranking->winner->measurement; }
};

struct RunView {
    explicit RunView(const Results& of);
    RunView(const RunView&) = delete;
    RunView& operator=(const RunView&) = delete;

    /// Of one group each, by columns and rows, in the order of the groups' first records.
    std::vector<std::pair<std::string, std::vector<const ProblemView*>>> by_group() const;

    const Results& results;
    std::vector<ProblemRanking> rankings;  // of all candidates
    std::vector<std::string> providers;    // normtune's own first
    std::vector<ThumbRule> heuristics;
    std::vector<ProblemView> problems;  // one a ranking
    std::vector<AxisEffect> axes;
    std::optional<Audit> audit;  // none where no own configuration was measured
};

/// A key's operation and its shape: {"rms_norm/forward/bf16/llama", "8192×4096"}, what differs from the default with the operation.
std::pair<std::string, std::string> operation_and_shape(std::string_view problem_key);

}  // namespace normtune
