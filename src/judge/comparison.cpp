#include "judge/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "judge/comparable.h"
#include "judge/latency.h"
#include "judge/match.h"

namespace normtune {
namespace {

class Comparing {
public:
    Comparing(const ResultRows& baseline, const ResultRows& candidate, const CompareSettings& settings) {
        out_.baseline = &baseline;
        out_.candidate = &candidate;
        out_.settings = settings;
        for (const Facet facet : settings.across) {
            allowed_ = static_cast<std::uint8_t>(allowed_ | facet_bit(facet));
        }
    }

    Comparison run() {
        pair_up();
        out_.not_comparable = why_not_comparable(out_);
        if (out_.not_comparable.empty()) {
            out_.settings.metric == Metric::memory ? judge_memory(out_) : judge_latency(out_);
        }
        return std::move(out_);
    }

private:
    void pair_up() {
        const std::vector<Match> matches = match_rows(*out_.baseline, *out_.candidate, out_.settings);
        out_.repeats = {repeats_of(*out_.baseline), repeats_of(*out_.candidate)};
        out_.pairs.reserve(matches.size());
        for (const Match& match : matches) {
            Pair pair;
            const auto value_of = [&](const ResultRows& side, std::uint32_t row, std::uint32_t& kept) {
                if (row == no_row) {
                    return no_value;
                }
                kept = row = standing_for_all(side, out_.repeats[&side == out_.baseline ? 0 : 1], row);
                const ResultRow& it = side.rows[row];
                return usable(it, out_.settings.metric) ? (out_.settings.metric == Metric::latency ? it.p50_us : it.memory_mib) : no_value;
            };
            pair.before = value_of(*out_.baseline, match.baseline, pair.baseline);
            pair.after = value_of(*out_.candidate, match.candidate, pair.candidate);
            if (std::isnan(pair.before) && std::isnan(pair.after)) {
                out_.failed_both += failed(pair) ? 1U : 0U;
                continue;
            }
            if (out_.settings.metric == Metric::latency && dropped(pair) && !failing(out_.candidate_row(pair))) {
                ++out_.dropped;
                out_.dropped_after += !std::isnan(pair.before) && !out_.baseline_row(pair)->dropped ? 1U : 0U;
                continue;
            }
            if (std::isnan(pair.before)) {
                pair.verdict = Verdict::new_;
            } else if (std::isnan(pair.after)) {
                pair.verdict = Verdict::missing;
            } else {
                const std::uint8_t differing = differences(pair);
                pair.differs = static_cast<std::uint8_t>(differing & ~static_cast<unsigned>(allowed_));
                pair.same_code = out_.settings.metric == Metric::latency && !out_.settings.judge_same_code && same_code(pair, differing);
            }
            out_.pairs.push_back(pair);
        }
    }

    /// It ran and went wrong, or would have; not what was left out.
    static bool failing(const ResultRow* row) {
        return row != nullptr && row->outcome != Outcome::passed && row->outcome != Outcome::pruned && row->outcome != Outcome::unsupported;
    }

    /// Of the processes that measured this trial: one in which it failed, else one that has its time and did not drop it.
    std::uint32_t standing_for_all(const ResultRows& side, const std::vector<std::uint32_t>& next, std::uint32_t newest) const {
        if (next.empty() || out_.settings.by == MatchBy::best) {
            return newest;
        }
        const auto place = [&](std::uint32_t row) {
            const ResultRow& it = side.rows[row];
            return std::tuple(!failing(&it), !usable(it, out_.settings.metric), it.dropped);
        };
        std::uint32_t best = newest;
        for (std::uint32_t row = next[newest]; row != newest; row = next[row]) {
            best = place(row) < place(best) ? row : best;
        }
        return best;
    }

    /// Not merely without this metric: a file may have the memory of a trial alone.
    bool failed(const Pair& pair) const {
        const auto is_failure = [](const ResultRow* row) { return row != nullptr && row->outcome != Outcome::passed; };
        return is_failure(out_.baseline_row(pair)) || is_failure(out_.candidate_row(pair));
    }

    bool dropped(const Pair& pair) const {
        const ResultRow* before = out_.baseline_row(pair);
        const ResultRow* after = out_.candidate_row(pair);
        return (before != nullptr && before->dropped) || (after != nullptr && after->dropped);
    }

    /// Equal machine code in all processes, launched alike (one configuration on one problem), where nothing else differs, not even what is
    /// allowed to.
    bool same_code(const Pair& pair, std::uint8_t differing) const {
        const ResultRow& before = *out_.baseline_row(pair);
        const ResultRow& after = *out_.candidate_row(pair);
        bool equal = before.code != 0;
        for (const std::size_t side : {0U, 1U}) {
            for_each_run(out_, side, pair, [&](const ResultRow& row) { equal = equal && row.code == before.code; });
        }
        return equal && differing == 0 &&
               (out_.settings.by == MatchBy::config ||
                out_.baseline->text(before.configuration) == out_.candidate->text(after.configuration)) &&
               ((allowed_ & facet_bit(Facet::casting)) == 0 ||
                out_.baseline->text(out_.baseline->problem_of(before).key) == out_.candidate->text(out_.candidate->problem_of(after).key));
    }

    /// Of any process of the one side to any of the other, whether it is allowed or not.
    std::uint8_t differences(const Pair& pair) {
        unsigned bits = 0;
        for_each_run(out_, 0, pair, [&](const ResultRow& before) {
            for_each_run(out_, 1, pair, [&](const ResultRow& after) { bits |= differences(before, after); });
        });
        return static_cast<std::uint8_t>(bits);
    }

    /// Most rows are of the origins of the rows before.
    std::uint8_t differences(const ResultRow& before, const ResultRow& after) {
        const std::pair origins{before.origin, after.origin};
        if (last_origins_ != origins) {
            last_origins_ = origins;
            last_differences_ = differences(out_.baseline->origins[origins.first], out_.candidate->origins[origins.second]);
        }
        return last_differences_;
    }

    std::uint8_t differences(const RowOrigin& a, const RowOrigin& b) const {
        unsigned bits = 0;
        const auto texts = [&](TextId left, TextId right, Facet facet) {
            if (left != 0 && right != 0 && out_.baseline->text(left) != out_.candidate->text(right)) {
                bits |= facet_bit(facet);
            }
        };
        texts(a.device, b.device, Facet::device);
        texts(a.driver, b.driver, Facet::driver);
        if (out_.settings.metric == Metric::latency) {
            texts(a.timer, b.timer, Facet::timer);
            if (a.cold != RowOrigin::Cold::unknown && b.cold != RowOrigin::Cold::unknown && a.cold != b.cold) {
                bits |= facet_bit(Facet::cold);
            }
        }
        return static_cast<std::uint8_t>(bits);
    }

    Comparison out_;
    std::uint8_t allowed_ = 0;
    std::optional<std::pair<std::uint32_t, std::uint32_t>> last_origins_;
    std::uint8_t last_differences_ = 0;
};

/// What became slower is among these, if anything is: what lost on the candidate's side alone.
std::string dropped_after_text(const Comparison& comparison) {
    return comparison.dropped_after == 0 ? ""
                                         : fmt::format(" ({} in the candidate alone, where {} may have become slower)",
                                                       comparison.dropped_after, comparison.dropped_after == 1 ? "it" : "they");
}

}  // namespace

Comparison compare(const ResultRows& baseline, const ResultRows& candidate, const CompareSettings& settings) {
    return Comparing(baseline, candidate, settings).run();
}

void judge_memory(Comparison& comparison) {
    for (Pair& pair : comparison.pairs) {
        if (std::isnan(pair.before) || std::isnan(pair.after)) {
            continue;
        }
        pair.evidence = Evidence::exact;
        // Nothing to nothing is no change; something from nothing is more than any threshold.
        pair.ratio = pair.before > 0 ? pair.after / pair.before : pair.after > 0 ? HUGE_VAL : 1;
        pair.low = pair.ratio;
        pair.high = pair.ratio;
        pair.error = 0;
        pair.verdict = pair.differs != 0 ? Verdict::ambiguous : judge(comparison, pair);
    }
    comparison.coverage = 1;
}

std::vector<std::string> remarks_on(const Comparison& comparison) {
    std::vector<std::string> remarks;
    if (comparison.all_same_code()) {
        const std::size_t pairs = comparison.count(Verdict::same_code);
        remarks.push_back(
            pairs == 1 ? "the one pair that both measured is the same code, launched alike: no change made it slower"
                       : fmt::format("all {} pairs that both measured are the same code, launched alike: no change made one of them slower",
                                     pairs));
    }
    if (comparison.dropped > 0) {
        const bool one = comparison.dropped == 1;
        remarks.push_back(
            fmt::format("{} trial{} not compared, for a race dropped {}{}; {}sweeps with --strategy exhaustive measure all alike",
                        comparison.dropped, one ? " is" : "s are", one ? "it" : "them", dropped_after_text(comparison),
                        comparison.settings.by == MatchBy::best ? "" : fmt::format("{} compares the winners, and ", by_best(comparison))));
    }
    if (const auto both_ways = std::ranges::count_if(comparison.pairs, &Pair::is_of_both_ways)) {
        remarks.push_back(fmt::format(
            "{} pairs moved, some one way and about as many the other by as much: trials in states of their own do that, and of one "
            "run a side nothing tells them from changes; several runs a side do (normtune sweep --repeat 3)",
            both_ways));
    }
    if (const auto few = std::ranges::count_if(comparison.pairs, &Pair::is_maybe_unstable)) {
        remarks.push_back(fmt::format(
            "{} pair{} moved, and so few did that each may be a trial that differs from run to run by far more than the others: "
            "several runs a side tell (normtune sweep --repeat 3)",
            few, few == 1 ? "" : "s"));
    }
    for (const ResultRows* side : {comparison.baseline, comparison.candidate}) {
        if (comparison.settings.metric == Metric::latency && side->stored.problems > 0) {
            remarks.push_back(
                fmt::format("{}: the times of {} problem{} were not measured in that run but taken from the store, the "
                            "oldest of {}; normtune sweep --fresh measures them",
                            side->name, side->stored.problems, side->stored.problems == 1 ? "" : "s", side->stored.oldest_day));
        }
    }
    return remarks;
}

Verdict judge(const Comparison& comparison, const Pair& pair) {
    return judge(pair, comparison.threshold_of(pair), comparison.settings.margin);
}

Verdict judge(const Pair& pair, double threshold, double margin) {
    if (pair.same_code) {
        return Verdict::same_code;
    }
    if (pair.low > 1 && pair.ratio >= 1 + threshold) {
        return pair.unsettled() ? Verdict::ambiguous : Verdict::slower;
    }
    if (pair.high < 1 && pair.ratio <= 1 / (1 + threshold)) {
        return pair.unsettled() ? Verdict::ambiguous : Verdict::faster;
    }
    // Finding nothing is no discovery: correcting this for the number of pairs would only make it harder to say.
    const double bound = std::log1p(threshold + margin);
    return std::abs(std::log(pair.ratio)) + double{pair.half_width} <= bound ? Verdict::same : Verdict::ambiguous;
}

std::string_view verdict_word(Verdict verdict, Metric metric) {
    if (metric == Metric::memory && (verdict == Verdict::faster || verdict == Verdict::slower)) {
        return verdict == Verdict::faster ? "less" : "more";
    }
    return verdict_names.name(verdict);
}

}  // namespace normtune
