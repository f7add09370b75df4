#include "judge/both_ways.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

namespace normtune {
namespace {

constexpr double as_much = 2.0 / 3;            // of a change: what moved so far the other way speaks against it
constexpr double widest_state = 1.06;          // twice as far as states lie apart: who moved further did so by a change
constexpr std::ptrdiff_t alone = 1;            // one pair that moved the other way is no sign of states
constexpr std::size_t tell_by_themselves = 8;  // of one problem: states would have moved all of them one way once in 128

/// How far pairs moved, either way.
class Moved {
public:
    void add(double change) { (change > 0 ? slower_ : faster_).push_back(std::abs(change)); }
    void sort() {
        std::sort(slower_.begin(), slower_.end());
        std::sort(faster_.begin(), faster_.end());
    }
    std::size_t count() const { return slower_.size() + faster_.size(); }
    /// Noise moves a pair one way as soon as the other: of those that moved the way of `change`, about as many may be noise as
    /// moved the other way. Is that more than `share` of them, and more than `most`?
    bool both_ways(double change, double share, std::ptrdiff_t most) const {
        const auto beyond = [least = as_much * std::abs(change)](const std::vector<double>& moved) {
            return moved.end() - std::lower_bound(moved.begin(), moved.end(), least);
        };
        const std::ptrdiff_t other_way = beyond(change > 0 ? faster_ : slower_);
        return other_way > most && static_cast<double>(other_way) > share * static_cast<double>(beyond(change > 0 ? slower_ : faster_));
    }

private:
    std::vector<double> slower_;
    std::vector<double> faster_;
};

}  // namespace

void find_both_ways(const Comparison& comparison, std::span<Pair* const> judged) {
    const CompareSettings& settings = comparison.settings;
    const double share = 2 * settings.false_discoveries;  // four times the false calls that are expected the other way
    const auto problem_of = [&](const Pair& pair) { return comparison.baseline_row(pair)->problem; };
    std::vector<Pair*> moved;
    Moved all;
    std::unordered_map<std::uint32_t, Moved> of_problems;
    for (Pair* const pair : judged) {
        const Verdict verdict = judge(comparison, *pair);
        const bool may_be_a_state = pair->ratio <= widest_state && pair->ratio >= 1 / widest_state;
        if (may_be_a_state && (verdict == Verdict::slower || verdict == Verdict::faster)) {
            moved.push_back(pair);
            all.add(std::log(pair->ratio));
            of_problems[problem_of(*pair)].add(std::log(pair->ratio));
        }
    }
    all.sort();
    for (auto& [problem, of_problem] : of_problems) {
        of_problem.sort();
    }
    for (Pair* const pair : moved) {
        const Moved& of_problem = of_problems.at(problem_of(*pair));
        const double change = std::log(pair->ratio);
        pair->both_ways =
            of_problem.count() >= tell_by_themselves ? of_problem.both_ways(change, share, 0) : all.both_ways(change, share, alone);
    }
}

}  // namespace normtune
