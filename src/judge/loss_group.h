// Losses of one rule over the problems of an op and a mode. Pure.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "judge/loss_summary.h"
#include "judge/problem_ranking.h"

namespace normtune {

struct LossGroup : LossSummary<ProblemRanking> {
    std::string op;  // empty: all together
    std::string mode;
};

/// A group for each op and mode, then one of all where there are several; `add` puts a problem into one, `ranking_of` is its ranking.
template <typename Group, typename Problems, typename RankingOf, typename Add>
std::vector<Group> grouped(const Problems& problems, const RankingOf& ranking_of, const Add& add) {
    std::map<std::pair<Op, Mode>, Group> by_op_and_mode;
    Group all;
    for (const auto& one : problems) {
        const Operation& operation = ranking_of(one).problem().operation;
        add(by_op_and_mode[{operation.op, operation.mode}], one);
        add(all, one);
    }
    std::vector<Group> groups;
    for (auto& [key, group] : by_op_and_mode) {
        group.op = op_names.name(key.first);
        group.mode = mode_names.name(key.second);
        groups.push_back(std::move(group));
    }
    if (groups.size() > 1) {
        groups.push_back(std::move(all));
    }
    return groups;
}

}  // namespace normtune
