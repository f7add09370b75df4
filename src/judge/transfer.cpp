#include "judge/transfer.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune {
namespace {

using Latest = std::map<std::string, const ProblemRanking*>;

Latest latest_by_problem(std::span<const ProblemRanking> rankings) {
    Latest out;
    for (const ProblemRanking& ranking : rankings) {
        const ProblemRanking*& latest = out[ranking.problem().key()];
        if (latest == nullptr || ranking.results->environment.started >= latest->results->environment.started) {
            latest = &ranking;
        }
    }
    return out;
}

/// What became of a candidate that has no time on a problem.
std::string why_not_measured(const ProblemRanking& ranking, const Candidate& candidate) {
    for (const Record& record : ranking.results->records) {
        if (record.candidate == candidate && record.problem.same_work(ranking.problem())) {
            return std::string(outcome_names.name(record.outcome));
        }
    }
    return "not run";
}

TransferredWinner transferred(const ProblemRanking& from, const ProblemRanking& to, double tolerance) {
    TransferredWinner out{&from, &to, nullptr, "", false};
    const Candidate& winner = from.winner->candidate;
    const auto found =
        std::find_if(to.standings.begin(), to.standings.end(), [&](const Standing& it) { return it.record->candidate == winner; });
    if (found != to.standings.end()) {
        out.there = &*found;
    } else {
        out.why_not = why_not_measured(to, winner);
    }
    out.again = out.there == nullptr || out.there->loss() > tolerance;
    return out;
}

std::vector<LossGroup> groups_of(const std::vector<TransferredWinner>& problems) {
    const auto ranking_of = [](const TransferredWinner& winner) -> const ProblemRanking& { return *winner.to; };
    return grouped<LossGroup>(problems, ranking_of, [](LossGroup& group, const TransferredWinner& winner) {
        group.add(*winner.to, winner.there != nullptr ? std::optional(winner.there->estimate()) : std::nullopt);
    });
}

}  // namespace

Transfer transfer(std::span<const ProblemRanking> from, std::span<const ProblemRanking> to, double tolerance) {
    const Latest before = latest_by_problem(from);
    const Latest after = latest_by_problem(to);
    Transfer out;
    out.tolerance = tolerance;
    for (const auto& [key, ranking] : before) {
        const auto other = after.find(key);
        if (other == after.end()) {
            ++out.only_from;
            continue;
        }
        if (ranking->winner->measurement->cold != other->second->winner->measurement->cold) {
            throw InputError(
                fmt::format("{}: one of the results measured it cold, the other on data in cache; their winners are not of one kind", key));
        }
        out.problems.push_back(transferred(*ranking, *other->second, tolerance));
    }
    if (out.problems.empty()) {
        throw InputError("these results have no problem in common; sweep the same --shapes and --tokens on both devices");
    }
    out.only_to = after.size() - out.problems.size();
    out.from = out.problems.front().from->device();
    out.to = out.problems.front().to->device();
    out.from_name = out.from.name;
    out.to_name = out.to.name;
    const auto place = [](const TransferredWinner& it) {
        return it.there != nullptr ? it.there->loss() : std::numeric_limits<double>::infinity();
    };
    std::stable_sort(out.problems.begin(), out.problems.end(),
                     [&](const TransferredWinner& a, const TransferredWinner& b) { return place(a) > place(b); });
    out.groups = groups_of(out.problems);
    for (const TransferredWinner& winner : out.problems) {
        out.again += winner.again ? 1U : 0U;
        out.after.add(*winner.to, winner.again ? LossEstimate{} : winner.there->estimate());
    }
    return out;
}

}  // namespace normtune
