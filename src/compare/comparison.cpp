#include "compare/comparison.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compare/estimate.h"
#include "compare/match.h"
#include "compare/run_to_run.h"
#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr int most_degrees = 200;  // beyond it Student's t is as good as normal

std::uint8_t bit(Facet facet) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(facet));
}

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
            allowed_ = static_cast<std::uint8_t>(allowed_ | bit(facet));
        }
    }

    Comparison run() {
        pair_up();
        out_.not_comparable = why_not();
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
                return usable(it, out_.settings.metric)
                           ? (out_.settings.metric == Metric::latency ? it.p50_us : it.memory_mib)
                           : no_value;
            };
            pair.before = value_of(*out_.baseline, match.baseline, pair.baseline);
            pair.after = value_of(*out_.candidate, match.candidate, pair.candidate);
            if (std::isnan(pair.before) && std::isnan(pair.after)) {
                out_.failed_both += failed(pair) ? 1U : 0U;
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

    std::uint8_t differences(const Pair& pair) const {
        const RowOrigin& a = out_.baseline->origin_of(*out_.baseline_row(pair));
        const RowOrigin& b = out_.candidate->origin_of(*out_.candidate_row(pair));
        unsigned bits = 0;
        const auto texts = [&](TextId left, TextId right, Facet facet) {
            if (left != 0 && right != 0 && out_.baseline->text(left) != out_.candidate->text(right)) {
                bits |= bit(facet);
            }
        };
        texts(a.driver, b.driver, Facet::driver);
        if (out_.settings.metric == Metric::latency) {
            texts(a.timer, b.timer, Facet::timer);
            if (a.cold != RowOrigin::Cold::unknown && b.cold != RowOrigin::Cold::unknown && a.cold != b.cold) {
                bits |= bit(Facet::cold);
            }
        }
        return static_cast<std::uint8_t>(bits & ~static_cast<unsigned>(allowed_));
    }

    /// The names of a facet's values on one side: at most a few.
    static std::string names(const ResultRows& side, Facet facet) {
        std::vector<std::string> found;
        const auto add = [&](std::string name) {
            if (!name.empty() && std::find(found.begin(), found.end(), name) == found.end()) {
                found.push_back(std::move(name));
            }
        };
        if (facet == Facet::casting) {
            for (const RowProblem& problem : side.problems) {
                add(std::string(side.text(problem.casting)));
            }
        } else {
            for (const RowOrigin& origin : side.origins) {
                add(facet == Facet::device                 ? std::string(side.text(origin.device))
                    : facet == Facet::driver               ? std::string(side.text(origin.driver))
                    : facet == Facet::timer                ? std::string(side.text(origin.timer))
                    : origin.cold == RowOrigin::Cold::cold ? "cold"
                    : origin.cold == RowOrigin::Cold::hot  ? "hot"
                                                           : "");
            }
        }
        constexpr std::size_t most = 3;
        const bool more = found.size() > most;
        found.resize(std::min(found.size(), most));
        return fmt::format("{}{}", fmt::join(found, ", "), more ? ", …" : "");
    }

    std::string describe(const std::vector<Facet>& facets) const {
        std::vector<std::string> parts;
        std::vector<std::string_view> words;
        for (const Facet facet : facets) {
            parts.push_back(fmt::format("{} ({} against {})", facet_names.name(facet), names(*out_.baseline, facet),
                                        names(*out_.candidate, facet)));
            words.push_back(facet_names.name(facet));
        }
        return fmt::format("{} and {} differ in {}; --across {} compares them nevertheless", out_.baseline->name,
                           out_.candidate->name, fmt::join(parts, ", "), fmt::join(words, ","));
    }

    bool any_matched(const CompareSettings& settings) const {
        const std::vector<Match> matches = match_rows(*out_.baseline, *out_.candidate, settings);
        return std::any_of(matches.begin(), matches.end(), [&](const Match& match) {
            return match.baseline != no_row && match.candidate != no_row &&
                   usable(out_.baseline->rows[match.baseline], settings.metric) &&
                   usable(out_.candidate->rows[match.candidate], settings.metric);
        });
    }

    std::string why_not() const {
        unsigned differing = 0;
        bool measured_both = false;
        for (const Pair& pair : out_.pairs) {
            const bool both = !std::isnan(pair.before) && !std::isnan(pair.after);
            measured_both |= both;
            differing |= pair.differs;
            if (both && pair.differs == 0) {
                return {};
            }
        }
        std::vector<Facet> facets;
        if (measured_both) {
            for (const Facet facet : {Facet::driver, Facet::timer, Facet::cold}) {
                if ((differing & bit(facet)) != 0) {
                    facets.push_back(facet);
                }
            }
            return describe(facets);
        }
        for (const std::vector<Facet>& tried :
             {std::vector{Facet::device}, std::vector{Facet::casting}, std::vector{Facet::device, Facet::casting}}) {
            CompareSettings settings = out_.settings;
            settings.across.insert(settings.across.end(), tried.begin(), tried.end());
            if (any_matched(settings)) {
                return describe(tried);
            }
        }
        if (out_.settings.by == MatchBy::config) {
            CompareSettings settings = out_.settings;
            settings.by = MatchBy::best;
            if (any_matched(settings)) {
                return fmt::format(
                    "{} and {} measured the same problems, but no configuration in common; --by best "
                    "compares their winners",
                    out_.baseline->name, out_.candidate->name);
            }
        }
        return fmt::format("{} and {} have nothing in common that both measured", out_.baseline->name,
                           out_.candidate->name);
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
            pair.verdict =
                pair.differs != 0 ? Verdict::ambiguous : judge(pair, out_.settings.threshold, out_.settings.margin);
        }
        out_.coverage = 1;
    }

    Estimates estimate(Pair& pair) const {
        const ResultRow& a = *out_.baseline_row(pair);
        const ResultRow& b = *out_.candidate_row(pair);
        const auto both = [&](std::uint16_t ResultRow::*count) { return a.*count >= 2 && b.*count >= 2; };
        if (out_.settings.by == MatchBy::best && both(&ResultRow::finals)) {
            pair.evidence = Evidence::fresh_rounds;
            return {estimate_from_rounds(out_.baseline->finals_of(a)),
                    estimate_from_rounds(out_.candidate->finals_of(b))};
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
                               (before.variance * before.variance / before.degrees +
                                after.variance * after.variance / after.degrees + between * between / between_degrees);
        pair.degrees = static_cast<float>(std::clamp(std::floor(degrees), 1.0, double{most_degrees}));
        pair.error = std::sqrt(variance);
        // Whatever moved the copies may have moved the kernels as much.
        const double beyond = std::max(0.0, std::abs(std::log(pair.ratio)) - out_.run_to_run.shift());
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
        const double tail =
            out_.settings.false_discoveries * static_cast<double>(std::max<std::size_t>(called, 1)) / pairs;
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
                t = {student_t_quantile(tail / 2, degrees),
                     student_t_quantile(out_.settings.false_discoveries / 2, degrees)};
            }
            const double half = t.corrected * pair->error + out_.run_to_run.shift();
            pair->low = pair->ratio * std::exp(-half);
            pair->high = pair->ratio * std::exp(half);
            pair->half_width = static_cast<float>(t.alone * pair->error + out_.run_to_run.shift());
        }
    }

    Comparison out_;
    std::uint8_t allowed_ = 0;
};

}  // namespace

Comparison compare(const ResultRows& baseline, const ResultRows& candidate, const CompareSettings& settings) {
    return Comparing(baseline, candidate, settings).run();
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

std::uint64_t Comparison::count(Verdict verdict) const {
    return static_cast<std::uint64_t>(
        std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return pair.verdict == verdict; }));
}

const ResultRow* Comparison::baseline_row(const Pair& pair) const {
    return pair.baseline == no_row ? nullptr : &baseline->rows[pair.baseline];
}

const ResultRow* Comparison::candidate_row(const Pair& pair) const {
    return pair.candidate == no_row ? nullptr : &candidate->rows[pair.candidate];
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
    return old.empty() || now.empty() || old == now ? std::string(old.empty() ? now : old)
                                                    : fmt::format("{} → {}", old, now);
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
        if ((pair.differs & bit(static_cast<Facet>(i))) != 0) {
            add(fmt::format("{} differs", facet_names.names[i]));
        }
    }
    if (pair.evidence == Evidence::quantiles) {
        add("rests on quantiles");
    }
    return out;
}

}  // namespace normtune
