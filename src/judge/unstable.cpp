#include "judge/unstable.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "judge/latency.h"
#include "measure/statistics.h"

namespace normtune {
namespace {

// The noise between runs is a mixture of two (a contaminated normal: Tukey, A survey of sampling from contaminated distributions, 1960).
constexpr double unstable_share = 0.01;       // of all trials
constexpr double unstable_deviation = 0.025;  // of log(ratio) of an unstable one between two runs of the same code

struct MovedPair {
    double unstable = 0;  // how many unstable trials are expected to move that way by as much or more
    Pair* pair = nullptr;
};

/// Of pairs that moved one way: as many of the farthest are changes as have few unstable trials among them (a step-up like Benjamini and
/// Hochberg's, with the number of those expected in place of p).
void mark_the_few(std::vector<MovedPair>& moved, double false_discoveries) {
    std::ranges::sort(moved, {}, &MovedPair::unstable);
    std::size_t changes = 0;
    for (std::size_t i = 0; i < moved.size(); ++i) {
        if (moved[i].unstable <= false_discoveries * static_cast<double>(i + 1)) {
            changes = i + 1;
        }
    }
    for (std::size_t i = changes; i < moved.size(); ++i) {
        moved[i].pair->may_be_unstable = true;
    }
}

}  // namespace

void find_unstable(const Comparison& comparison, std::span<Pair* const> judged) {
    const CompareSettings& settings = comparison.settings;
    const auto pairs = static_cast<double>(std::ranges::count_if(judged, [](const Pair* pair) { return !pair->same_code; }));
    std::vector<MovedPair> slower;
    std::vector<MovedPair> faster;
    for (Pair* const pair : judged) {
        const Verdict verdict = judge(comparison, *pair);
        if (verdict == Verdict::slower || verdict == Verdict::faster) {
            const double beyond = std::abs(std::log(pair->ratio)) - double{pair->shift};
            const double tail = student_t_tail(beyond / std::hypot(pair->error, unstable_deviation), most_degrees);
            (verdict == Verdict::slower ? slower : faster).push_back({pairs * unstable_share * tail, pair});
        }
    }
    mark_the_few(slower, settings.false_discoveries);
    mark_the_few(faster, settings.false_discoveries);
}

}  // namespace normtune
