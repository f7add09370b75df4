#include "judge/latency.h"

#include <algorithm>
#include <cmath>

#include "judge/both_ways.h"
#include "judge/estimate.h"
#include "judge/match.h"
#include "judge/run_to_run.h"
#include "judge/unstable.h"
#include "measure/statistics.h"

namespace normtune {
namespace {

class LatencyJudging {
public:
    explicit LatencyJudging(Comparison& comparison) : out_(comparison), rows_{comparison.baseline, comparison.candidate} {}

    void run() {
        out_.floors = find_floors(out_);
        judged_.reserve(out_.pairs.size());
        sides_.reserve(2 * out_.pairs.size());
        for (Pair& pair : out_.pairs) {
            if (!std::isnan(pair.before) && !std::isnan(pair.after)) {
                estimate(pair);
            }
        }
        moderate();
        find_differences();
        of_runs_.reserve(judged_.size());
        for (std::size_t i = 0; i < judged_.size(); ++i) {
            set_error(i);
        }
        out_.of_a_run = of_runs_.empty() ? 0 : std::sqrt(median(of_runs_));
        set_intervals(out_, judged_);
        if (!out_.repeated() && !out_.control.known()) {
            find_both_ways(out_, judged_);
        }
        if (!out_.repeated()) {
            find_unstable(out_, judged_);
        }
        for (Pair* pair : judged_) {
            pair->verdict = judge(out_, *pair);
        }
    }

private:
    /// Of its evidence; times are without what the floor was above the baseline's.
    void estimate(Pair& pair) {
        const std::array<std::uint32_t, 2> at{pair.baseline, pair.candidate};
        const auto both = [&](std::uint16_t ResultRow::*count) {
            return rows_[0]->rows[at[0]].*count >= 2 && rows_[1]->rows[at[1]].*count >= 2;
        };
        const bool fresh = out_.settings.by == MatchBy::best && both(&ResultRow::finals);
        pair.evidence = fresh ? Evidence::fresh_rounds : both(&ResultRow::rounds) ? Evidence::rounds : Evidence::quantiles;
        std::array<Estimate, 2> sides;
        std::array<double, 2> raw{};
        std::array<std::size_t, 2> runs{};
        for (std::size_t side = 0; side < 2; ++side) {
            processes_.clear();
            double sum = 0;
            for_each_run(out_, side, pair, [&](const ResultRow& one) {
                Estimate of_one = of_row(*rows_[side], one, fresh);
                const double us = std::exp(of_one.center);
                sum += of_one.center;
                of_one.center = std::log(std::max(us - out_.floors.above(side, one.process), us / 2));
                processes_.push_back(of_one);
            });
            runs[side] = processes_.size();
            raw[side] = sum / static_cast<double>(runs[side]);
            sides[side] = runs[side] == 1 ? processes_.front() : estimate_from_processes(processes_);
            out_.processes[side] = std::max(out_.processes[side], runs[side]);
        }
        if (runs[0] + runs[1] > 2) {
            pair.evidence = Evidence::processes;
        }
        pair.before = std::exp(raw[0]);
        pair.after = std::exp(raw[1]);
        pair.ratio = std::exp(sides[1].center - sides[0].center);
        if (pair.differs == 0) {
            judged_.push_back(&pair);
            sides_.insert(sides_.end(), sides.begin(), sides.end());
        }
    }

    static Estimate of_row(const ResultRows& rows, const ResultRow& row, bool fresh) {
        return fresh && row.finals >= 2 ? estimate_from_rounds(rows.finals_of(row))
               : row.rounds >= 2        ? estimate_from_rounds(rows.rounds_of(row))
                                        : estimate_from_quantiles(double{row.p20_us}, row.p50_us, double{row.p80_us}, row.rounds_taken);
    }

    void moderate() {
        if (out_.repeated()) {
            for (Estimate& side : sides_) {
                if (!side.of_processes) {  // one process: what processes scatter by is not its rounds' to tell
                    side = {side.center, 0, 0, 1, true};
                }
            }
        }
        const UsualNoise usual(sides_);
        if (out_.repeated()) {
            out_.usual_degrees = 2 * usual.degrees();
        }
        for (Estimate& side : sides_) {
            side = usual.moderated(side);
        }
    }

    double log_ratio(std::size_t i) const { return sides_[2 * i + 1].center - sides_[2 * i].center; }
    double variance(std::size_t i) const { return sides_[2 * i + 1].variance + sides_[2 * i].variance; }

    void find_differences() {
        std::vector<ControlSample> control;
        for (std::size_t i = 0; i < judged_.size(); ++i) {
            if (judged_[i]->same_code) {
                control.push_back({log_ratio(i), variance(i), std::exp(sides_[2 * i].center)});
            }
        }
        out_.control = find_control(control, out_.settings.run_to_run_us);
        std::vector<RatioSample> ratios;
        for (std::size_t i = 0; i < judged_.size(); ++i) {
            ratios.push_back({log_ratio(i), variance(i)});
        }
        out_.run_to_run = find_run_to_run(out_, ratios);
    }

    /// What two runs of the same code are taken to differ by, of log(ratio) and in µs; of several runs a side the estimates have it.
    double assumed() const { return out_.repeated() ? 0 : out_.run_to_run.deviation; }
    double assumed_us() const { return out_.repeated() ? 0 : out_.settings.run_to_run_us; }

    struct Between {
        double variance = 0;
        double degrees = 0;
    };

    /// What is not in the estimates: the difference between the runs.
    Between between(const Pair& pair, double us) const {
        const double disturbed = disturbance(out_, pair);
        const Control& control = out_.control;
        if (control.known()) {
            const double scatter = out_.repeated() ? 0 : control.variance_at(us);
            return {scatter + control.shift_variance_at(us) + disturbed * disturbed, control.degrees};
        }
        // How much of a floor's change a kernel shows is known to a quarter of it.
        constexpr double unsure = 0.25;
        constexpr double usual_degrees = 30;  // it rests on copies and pairs, many of them
        const RunToRun& noise = out_.run_to_run;
        const double in_us = std::hypot(assumed_us(), unsure * out_.floor_change_us(pair)) / us;
        return {assumed() * assumed() + in_us * in_us + noise.shift_variance + disturbed * disturbed, usual_degrees};
    }

    void set_error(std::size_t i) {
        Pair& pair = *judged_[i];
        const Estimate& before = sides_[2 * i];
        const Estimate& after = sides_[2 * i + 1];
        const Control& control = out_.control;
        const double change = log_ratio(i) - (control.known() ? control.shift_at(std::exp(before.center)) : 0);
        pair.ratio = std::exp(change);
        const Between other = between(pair, std::min(pair.before, pair.after));
        const double variance = this->variance(i) + other.variance;
        // Welch and Satterthwaite.
        const auto part = [](double of, double degrees) { return of * of / degrees; };
        const double degrees = variance * variance /
                               (part(before.variance, before.degrees) + part(after.variance, after.degrees) +
                                (other.variance > 0 ? part(other.variance, other.degrees) : 0));
        pair.degrees = static_cast<float>(std::clamp(std::floor(degrees), 1.0, double{most_degrees}));
        pair.error = std::sqrt(variance);
        // Whatever moved the copies may have moved the kernels as much, where no control says better.
        pair.shift =
            control.known() ? 0 : static_cast<float>(std::max(out_.run_to_run.shift(assumed()), launch_shift(out_, pair, assumed_us())));
        const double beyond = std::max(0.0, std::abs(change) - double{pair.shift});
        pair.p = std::min(1.0, 2 * student_t_tail(beyond / pair.error, static_cast<int>(pair.degrees)));
        const double runs = out_.repeated() ? 2 / (1.0 / before.rounds + 1.0 / after.rounds) : 1;
        of_runs_.push_back(variance * runs / 2);
    }

    Comparison& out_;
    std::array<const ResultRows*, 2> rows_;
    std::vector<Pair*> judged_;
    std::vector<Estimate> sides_;  // before and after, in turn
    std::vector<Estimate> processes_;
    std::vector<double> of_runs_;
};

}  // namespace

void set_intervals(Comparison& comparison, std::span<Pair* const> judged) {
    std::vector<double> p;
    p.reserve(judged.size());
    for (const Pair* pair : judged) {
        if (!pair->same_code) {
            p.push_back(pair->p);
        }
    }
    std::sort(p.begin(), p.end());
    const auto pairs = static_cast<double>(std::max<std::size_t>(p.size(), 1));
    std::size_t called = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (p[i] <= comparison.settings.false_discoveries * static_cast<double>(i + 1) / pairs) {
            called = i + 1;
        }
    }
    const double tail = comparison.settings.false_discoveries * static_cast<double>(std::max<std::size_t>(called, 1)) / pairs;
    comparison.coverage = 1 - tail;
    struct Critical {
        double corrected = 0;
        double alone = 0;
    };
    std::vector<Critical> critical(most_degrees + 1);
    for (Pair* const pair : judged) {
        const auto degrees = static_cast<int>(pair->degrees);
        Critical& t = critical[static_cast<std::size_t>(degrees)];
        if (t.corrected == 0) {
            t = {student_t_quantile(tail / 2, degrees), student_t_quantile(comparison.settings.false_discoveries / 2, degrees)};
        }
        const double half = t.corrected * pair->error + double{pair->shift};
        pair->low = pair->ratio * std::exp(-half);
        pair->high = pair->ratio * std::exp(half);
        pair->half_width = static_cast<float>(t.alone * pair->error + double{pair->shift});
    }
}

void judge_latency(Comparison& comparison) {
    LatencyJudging(comparison).run();
}

}  // namespace normtune
