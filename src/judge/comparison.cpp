#include "judge/comparison.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/comparable.h"
#include "judge/estimate.h"
#include "judge/match.h"
#include "judge/run_to_run.h"
#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr int most_degrees = 200;  // beyond it Student's t is as good as normal

struct Estimates {
    Estimate before;
    Estimate after;
};

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
            out_.settings.metric == Metric::memory ? judge_memory() : judge_latency();
        }
        return std::move(out_);
    }

private:
    void pair_up() {
        const std::vector<Match> matches = match_rows(*out_.baseline, *out_.candidate, out_.settings);
        out_.pairs.reserve(matches.size());
        for (const Match& match : matches) {
            Pair pair;
            const auto value_of = [&](const ResultRows& side, std::uint32_t row, std::uint32_t& kept) {
                if (row == no_row) {
                    return no_value;
                }
                kept = row;
                const ResultRow& it = side.rows[row];
                return usable(it, out_.settings.metric) ? (out_.settings.metric == Metric::latency ? it.p50_us : it.memory_mib) : no_value;
            };
            pair.before = value_of(*out_.baseline, match.baseline, pair.baseline);
            pair.after = value_of(*out_.candidate, match.candidate, pair.candidate);
            if (std::isnan(pair.before) && std::isnan(pair.after)) {
                out_.failed_both += failed(pair) ? 1U : 0U;
                continue;
            }
            if (out_.settings.metric == Metric::latency && dropped(pair)) {
                ++out_.dropped;
                continue;
            }
            if (std::isnan(pair.before)) {
                pair.verdict = Verdict::new_;
            } else if (std::isnan(pair.after)) {
                pair.verdict = Verdict::missing;
            } else {
                pair.differs = differences(pair);
            }
            out_.pairs.push_back(pair);
        }
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

    std::uint8_t differences(const Pair& pair) const {
        const RowOrigin& a = out_.baseline->origin_of(*out_.baseline_row(pair));
        const RowOrigin& b = out_.candidate->origin_of(*out_.candidate_row(pair));
        unsigned bits = 0;
        const auto texts = [&](TextId left, TextId right, Facet facet) {
            if (left != 0 && right != 0 && out_.baseline->text(left) != out_.candidate->text(right)) {
                bits |= facet_bit(facet);
            }
        };
        texts(a.driver, b.driver, Facet::driver);
        if (out_.settings.metric == Metric::latency) {
            texts(a.timer, b.timer, Facet::timer);
            if (a.cold != RowOrigin::Cold::unknown && b.cold != RowOrigin::Cold::unknown && a.cold != b.cold) {
                bits |= facet_bit(Facet::cold);
            }
        }
        return static_cast<std::uint8_t>(bits & ~static_cast<unsigned>(allowed_));
    }

    void judge_memory() {
        for (Pair& pair : out_.pairs) {
            if (std::isnan(pair.before) || std::isnan(pair.after)) {
                continue;
            }
            pair.evidence = Evidence::exact;
            // Nothing to nothing is no change; something from nothing is more than any threshold.
            pair.ratio = pair.before > 0 ? pair.after / pair.before : pair.after > 0 ? HUGE_VAL : 1;
            pair.low = pair.ratio;
            pair.high = pair.ratio;
            pair.error = 0;
            pair.verdict = pair.differs != 0 ? Verdict::ambiguous : judge(pair, out_.settings.threshold, out_.settings.margin);
        }
        out_.coverage = 1;
    }

    Estimates estimate(Pair& pair) const {
        const ResultRow& a = *out_.baseline_row(pair);
        const ResultRow& b = *out_.candidate_row(pair);
        const auto both = [&](std::uint16_t ResultRow::*count) { return a.*count >= 2 && b.*count >= 2; };
        if (out_.settings.by == MatchBy::best && both(&ResultRow::finals)) {
            pair.evidence = Evidence::fresh_rounds;
            return {estimate_from_rounds(out_.baseline->finals_of(a)), estimate_from_rounds(out_.candidate->finals_of(b))};
        }
        pair.evidence = both(&ResultRow::rounds) ? Evidence::rounds : Evidence::quantiles;
        const auto side = [&](const ResultRows& rows, const ResultRow& row) {
            return row.rounds >= 2 ? estimate_from_rounds(rows.rounds_of(row))
                                   : estimate_from_quantiles(row.p20_us, row.p50_us, row.p80_us, row.rounds_taken);
        };
        return {side(*out_.baseline, a), side(*out_.candidate, b)};
    }

    void judge_latency() {
        std::vector<Pair*> judged;
        std::vector<Estimate> estimates;  // before and after, in turn
        for (Pair& pair : out_.pairs) {
            if (std::isnan(pair.before) || std::isnan(pair.after)) {
                continue;
            }
            const Estimates both = estimate(pair);
            pair.before = std::exp(both.before.center);
            pair.after = std::exp(both.after.center);
            pair.ratio = std::exp(both.after.center - both.before.center);
            if (pair.differs != 0) {
                continue;
            }
            judged.push_back(&pair);
            estimates.push_back(both.before);
            estimates.push_back(both.after);
        }
        const UsualNoise usual(estimates);
        std::vector<RatioSample> ratios;
        for (std::size_t i = 0; i < judged.size(); ++i) {
            const Estimate before = usual.moderated(estimates[2 * i]);
            const Estimate after = usual.moderated(estimates[2 * i + 1]);
            estimates[2 * i] = before;
            estimates[2 * i + 1] = after;
            ratios.push_back({after.center - before.center, before.variance + after.variance});
        }
        out_.run_to_run = find_run_to_run(out_, ratios);
        for (std::size_t i = 0; i < judged.size(); ++i) {
            set_error(*judged[i], estimates[2 * i], estimates[2 * i + 1]);
        }
        set_intervals(judged);
        for (Pair* pair : judged) {
            pair->verdict = judge(*pair, out_.settings.threshold, out_.settings.margin);
        }
    }

    void set_error(Pair& pair, const Estimate& before, const Estimate& after) const {
        const double shortest_us = std::min(pair.before, pair.after);
        const double relative = out_.settings.run_to_run_us / shortest_us;
        const double disturbed = disturbance(out_, pair);
        const double between = out_.run_to_run.deviation * out_.run_to_run.deviation + relative * relative +
                               out_.run_to_run.shift_variance + disturbed * disturbed;
        const double variance = before.variance + after.variance + between;
        // Welch and Satterthwaite; what is between runs rests on copies and pairs, many of them.
        constexpr double between_degrees = 30;
        const double degrees = variance * variance /
                               (before.variance * before.variance / before.degrees + after.variance * after.variance / after.degrees +
                                between * between / between_degrees);
        pair.degrees = static_cast<float>(std::clamp(std::floor(degrees), 1.0, double{most_degrees}));
        pair.error = std::sqrt(variance);
        // Whatever moved the copies may have moved the kernels as much.
        pair.shift = static_cast<float>(std::max(out_.run_to_run.shift(), launch_shift(out_, pair)));
        const double beyond = std::max(0.0, std::abs(std::log(pair.ratio)) - double{pair.shift});
        pair.p = std::min(1.0, 2 * student_t_tail(beyond / pair.error, static_cast<int>(pair.degrees)));
    }

    /// Benjamini and Hochberg's step-up over all pairs; the intervals have the level that goes with it (Benjamini and
    /// Yekutieli 2005), so that an interval leaves out 1 exactly where the test calls the pair.
    void set_intervals(const std::vector<Pair*>& judged) {
        std::vector<double> p;
        p.reserve(judged.size());
        std::transform(judged.begin(), judged.end(), std::back_inserter(p), [](const Pair* pair) { return pair->p; });
        std::sort(p.begin(), p.end());
        const auto pairs = static_cast<double>(p.size());
        std::size_t called = 0;
        for (std::size_t i = 0; i < p.size(); ++i) {
            if (p[i] <= out_.settings.false_discoveries * static_cast<double>(i + 1) / pairs) {
                called = i + 1;
            }
        }
        const double tail = out_.settings.false_discoveries * static_cast<double>(std::max<std::size_t>(called, 1)) / pairs;
        out_.coverage = 1 - tail;
        struct Critical {
            double corrected = 0;
            double alone = 0;
        };
        std::vector<Critical> critical(most_degrees + 1);
        for (Pair* pair : judged) {
            const auto degrees = static_cast<int>(pair->degrees);
            Critical& t = critical[static_cast<std::size_t>(degrees)];
            if (t.corrected == 0) {
                t = {student_t_quantile(tail / 2, degrees), student_t_quantile(out_.settings.false_discoveries / 2, degrees)};
            }
            const double half = t.corrected * pair->error + double{pair->shift};
            pair->low = pair->ratio * std::exp(-half);
            pair->high = pair->ratio * std::exp(half);
            pair->half_width = static_cast<float>(t.alone * pair->error + double{pair->shift});
        }
    }

    Comparison out_;
    std::uint8_t allowed_ = 0;
};

}  // namespace

Comparison compare(const ResultRows& baseline, const ResultRows& candidate, const CompareSettings& settings) {
    return Comparing(baseline, candidate, settings).run();
}

std::vector<std::string> stored_remarks(const Comparison& comparison) {
    std::vector<std::string> remarks;
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

Verdict judge(const Pair& pair, double threshold, double margin) {
    if (pair.low > 1 && pair.ratio >= 1 + threshold) {
        return Verdict::slower;
    }
    if (pair.high < 1 && pair.ratio <= 1 / (1 + threshold)) {
        return Verdict::faster;
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
