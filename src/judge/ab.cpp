#include "judge/ab.h"

#include <algorithm>
#include <cmath>

#include "judge/estimate.h"
#include "judge/latency.h"
#include "judge/match.h"
#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr std::size_t least_unthrottled = 4;  // rounds of a process; where fewer are left, throttled ones count, too

/// What one process tells of a pair: logarithms.
struct OfProcess {
    Estimate change;
    double before = 0;
    double after = 0;
};

/// Rounds are alike by their number: each has both sides, right after one another.
std::optional<OfProcess> of_process(std::span<const Round> before, std::span<const Round> after) {
    const std::size_t rounds = std::min(before.size(), after.size());
    const auto throttled = [&](std::size_t i) { return before[i].throttled || after[i].throttled; };
    std::size_t good = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        good += throttled(i) ? 0 : 1;
    }
    std::vector<double> ratios;
    std::vector<double> before_us;
    std::vector<double> after_us;
    for (std::size_t i = 0; i < rounds; ++i) {
        if (before[i].median_us > 0 && after[i].median_us > 0 && (good < least_unthrottled || !throttled(i))) {
            ratios.push_back(after[i].median_us / before[i].median_us);
            before_us.push_back(before[i].median_us);
            after_us.push_back(after[i].median_us);
        }
    }
    if (ratios.empty()) {
        return std::nullopt;
    }
    return OfProcess{estimate_from_rounds(ratios), estimate_from_rounds(before_us).center, estimate_from_rounds(after_us).center};
}

std::vector<OfProcess> processes_of(const Measurement& before, const Measurement& after) {
    std::vector<OfProcess> out;
    const auto add = [&](std::span<const Round> b, std::span<const Round> a) {
        if (const auto one = of_process(b, a)) {
            out.push_back(*one);
        }
    };
    add(before.rounds, after.rounds);
    for (const Repetition& b : before.repetitions) {
        const auto a = std::ranges::find(after.repetitions, b.process, &Repetition::process);
        if (a != after.repetitions.end()) {
            add(b.rounds, a->rounds);
        }
    }
    return out;
}

/// The first row of each record; of those that follow each is of a further process.
std::vector<std::uint32_t> rows_of_records(const ResultRows& side) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < side.rows.size(); ++i) {
        if (side.rows[i].process == 0) {
            out.push_back(i);
        }
    }
    return out;
}

class Judging {
public:
    Judging(const ResultRows& before, const ResultRows& after, const CompareSettings& settings) {
        out_.baseline = &before;
        out_.candidate = &after;
        out_.settings = settings;
        out_.side_by_side = true;
    }

    Comparison run(std::span<const AbPair> pairs) {
        pair_up(pairs);
        if (out_.settings.metric == Metric::memory) {
            judge_memory(out_);
        } else {
            judge_times();
        }
        return std::move(out_);
    }

private:
    void pair_up(std::span<const AbPair> pairs) {
        const std::vector<std::uint32_t> before = rows_of_records(*out_.baseline);
        const std::vector<std::uint32_t> after = rows_of_records(*out_.candidate);
        std::size_t next_before = 0;
        std::size_t next_after = 0;
        for (const AbPair& of : pairs) {
            Pair pair;
            pair.baseline = of.before != nullptr ? before[next_before++] : no_row;
            pair.candidate = of.after != nullptr ? after[next_after++] : no_row;
            pair.before = value_of(out_.baseline_row(pair));
            pair.after = value_of(out_.candidate_row(pair));
            if (std::isnan(pair.before) && std::isnan(pair.after)) {
                ++out_.failed_both;
                out_.failed_pairs.push_back(pair);
                continue;
            }
            if (std::isnan(pair.before) || std::isnan(pair.after)) {
                pair.verdict = std::isnan(pair.before) ? Verdict::new_ : Verdict::missing;
            } else {
                const std::uint64_t code = out_.baseline_row(pair)->code;
                pair.same_code = out_.settings.metric == Metric::latency && !out_.settings.judge_same_code && of.launched_alike &&
                                 code != 0 && code == out_.candidate_row(pair)->code;
            }
            out_.pairs.push_back(pair);
            of_pairs_.push_back(of);
        }
    }

    double value_of(const ResultRow* row) const {
        return row == nullptr || !usable(*row, out_.settings.metric) ? no_value
               : out_.settings.metric == Metric::latency             ? row->p50_us
                                                                     : row->memory_mib;
    }

    void judge_times() {
        for (std::size_t i = 0; i < out_.pairs.size(); ++i) {
            if (!std::isnan(out_.pairs[i].before) && !std::isnan(out_.pairs[i].after)) {
                estimate(out_.pairs[i], of_pairs_[i]);
            }
        }
        const UsualNoise usual(estimates_);
        out_.usual_degrees = usual.degrees();
        std::vector<double> of_runs;
        for (std::size_t i = 0; i < judged_.size(); ++i) {
            Pair& pair = *judged_[i];
            const Estimate moderated = usual.moderated(estimates_[i]);
            pair.error = std::sqrt(moderated.variance);
            pair.degrees = static_cast<float>(std::clamp(std::floor(moderated.degrees), 1.0, double{most_degrees}));
            pair.p = std::min(1.0, 2 * student_t_tail(std::abs(std::log(pair.ratio)) / pair.error, static_cast<int>(pair.degrees)));
            of_runs.push_back(moderated.variance * moderated.rounds / 2);
        }
        out_.of_a_run = of_runs.empty() ? 0 : std::sqrt(median(of_runs));
        set_intervals(out_, judged_);
        for (Pair* const pair : judged_) {
            pair->verdict = judge(out_, *pair);
        }
    }

    /// The pair's change, and what processes differ by.
    void estimate(Pair& pair, const AbPair& of) {
        const std::vector<OfProcess> processes = processes_of(*of.before->measurement, *of.after->measurement);
        if (processes.empty()) {
            return;  // ambiguous: no round has both
        }
        std::vector<Estimate> changes;
        double before = 0;
        double after = 0;
        for (const OfProcess& one : processes) {
            changes.push_back(one.change);
            before += one.before / static_cast<double>(processes.size());
            after += one.after / static_cast<double>(processes.size());
        }
        // Of one process nobody knows what processes differ by: what its rounds scatter by is no measure of it.
        Estimate change = changes.size() > 1 ? estimate_from_processes(changes) : Estimate{changes.front().center, 0, 0, 1, true};
        pair.evidence = Evidence::paired;
        pair.before = std::exp(before);
        pair.after = std::exp(after);
        pair.ratio = std::exp(change.center);
        for (std::size_t& count : out_.processes) {
            count = std::max(count, processes.size());
        }
        change.center = before;  // the usual noise is that of trials that take as long
        estimates_.push_back(change);
        judged_.push_back(&pair);
    }

    Comparison out_;
    std::vector<AbPair> of_pairs_;  // as out_.pairs
    std::vector<Pair*> judged_;
    std::vector<Estimate> estimates_;  // as judged_
};

}  // namespace

ResultRows ab_rows(std::span<const AbPair> pairs, const Record* AbPair::*side, const Environment& environment, std::string name) {
    Results results;
    results.environment = environment;
    for (const AbPair& pair : pairs) {
        if (pair.*side != nullptr) {
            results.records.push_back(*(pair.*side));
        }
    }
    return rows_of(results, std::move(name));
}

Comparison judge_ab(std::span<const AbPair> pairs, const ResultRows& before, const ResultRows& after, const CompareSettings& settings) {
    return Judging(before, after, settings).run(pairs);
}

}  // namespace normtune
