#include "judge/trend.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "judge/trend_causes.h"
#include "problem/problem.h"
#include "support/error.h"
#include "trial/candidate.h"

namespace normtune {
namespace {

constexpr std::size_t least_nights = 13;  // what find_change_points needs before it can tell anything
/// All series, with how noisy their runs were.
class Trends {
public:
    Trends(const History& history, const Policy& policy, std::string_view today) : history_(history), policy_(policy), today_(today) {}

    Trend find() {
        Trend out;
        out.policy = policy_.name;
        share_noise();
        for (const HistorySeries& series : history_.series) {
            out.series.push_back(find(series));
            out.too_short += series.nights.size() < least_nights ? 1 : 0;
            out.not_in_newest += out.series.back().in_newest ? 0 : 1;
        }
        CauseFinder(history_, policy_, out.series).find(least_nights);
        for (SeriesTrend& trend : out.series) {
            judge(trend);
        }
        remark(out);
        return out;
    }

private:
    void share_noise() {
        noise_.assign(history_.runs.size(), 1);
        newest_.insert(history_.newest.begin(), history_.newest.end());
        std::map<std::string_view, std::vector<std::uint32_t>> runs;
        for (const HistorySeries& series : history_.series) {
            for (const HistoryNight& night : series.nights) {
                runs[series.device].push_back(night.run);
                newest_[series.device] = std::max(newest_[series.device], night.run);
            }
        }
        for (auto& [device, of_device] : runs) {
            std::sort(of_device.begin(), of_device.end());
            of_device.erase(std::unique(of_device.begin(), of_device.end()), of_device.end());
            std::vector<std::vector<double>> all;
            for (const HistorySeries& series : history_.series) {
                if (series.device != device) {
                    continue;
                }
                std::vector<double>& values = all.emplace_back(of_device.size(), no_value);
                for (const HistoryNight& night : series.nights) {
                    const auto place = std::lower_bound(of_device.begin(), of_device.end(), night.run) - of_device.begin();
                    values[static_cast<std::size_t>(place)] = std::log(night.times.p50_us);
                }
            }
            const std::vector<double> noise = noise_of_nights(all, of_device.size());
            for (std::size_t i = 0; i < noise.size(); ++i) {
                noise_[of_device[i]] = noise[i];
            }
        }
    }

    SeriesTrend find(const HistorySeries& series) {
        SeriesTrend out;
        out.series = &series;
        // A sweep over several devices of one name is a run on each of them, with one start.
        out.in_newest = history_.runs[series.nights.back().run].started == history_.runs[newest_[series.device]].started;
        for (const HistoryNight& night : series.nights) {
            out.noise.push_back(noise_[night.run]);
        }
        for (const ChangePoint& point : find_change_points(log_times(series), out.noise, nights_with_causes(history_, series))) {
            TrendChange& change = out.changes.emplace_back();
            change.point = point;
            change.own = point.change;
        }
        return out;
    }

    PolicySubject subject_of(const HistorySeries& series, const std::string& candidate, std::optional<Problem>& problem) const {
        PolicySubject out;
        try {
            problem = parse_problem_key(series.trial.problem);
            out.op = op_names.name(problem->operation.op);
            out.mode = mode_names.name(problem->operation.mode);
            out.rows = problem->shape.rows;
            out.cols = problem->shape.cols;
        } catch (const InputError&) {
            // Another benchmark's.
        }
        out.sites = series.trial.sites;
        out.problem = series.trial.problem;
        out.config = candidate;
        return out;
    }

    /// Is it the kernel's, or what the policy lets differ?
    bool counts(const TrendChange& change) const {
        const auto across = [&](Facet facet) {
            return std::find(policy_.across.begin(), policy_.across.end(), facet) != policy_.across.end();
        };
        return std::any_of(change.causes.begin(), change.causes.end(), [&](Cause cause) {
            switch (cause) {
                case Cause::code:
                case Cause::revision:
                case Cause::compiler:
                case Cause::unknown:
                    return true;
                case Cause::driver:
                    return across(Facet::driver);
                case Cause::device:
                    return across(Facet::device);
                case Cause::floor:
                case Cause::copy:
                case Cause::machine:
                    break;
            }
            return false;
        });
    }

    void judge(SeriesTrend& trend) {
        std::optional<Problem> problem;
        const std::string candidate = trend.series->trial.candidate();
        const PolicySubject subject = subject_of(*trend.series, candidate, problem);
        trend.threshold = policy_.threshold_of(subject);
        for (TrendChange& change : trend.changes) {
            change.judged = counts(change);
            if (change.judged) {
                trend.slower = std::max(0.0, trend.slower + change.own.size);
            }
        }
        trend.regression = trend.in_newest && std::expm1(trend.slower) >= trend.threshold;
        for (const Policy::Known& known : policy_.known) {
            if (!trend.regression || !known.pairs.matches(subject)) {
                continue;
            }
            if (today_ > known.until) {
                run_out_.insert(&known);
                continue;
            }
            trend.regression = false;
            trend.known = fmt::format("known until {}: {}", known.until, known.reason);
        }
    }

    void remark(Trend& out) const {
        for (const Policy::Known& known : policy_.known) {
            if (run_out_.contains(&known)) {
                out.remarks.push_back(known.run_out_text());
            }
        }
        const std::size_t told = out.series.size() - out.too_short;
        if (out.too_short > 0) {
            out.remarks.push_back(fmt::format("{} of {} series have fewer than {} nights, which is too few to tell a change", out.too_short,
                                              out.series.size(), least_nights));
        }
        if (out.not_in_newest > 0) {
            out.remarks.push_back(fmt::format("{} of {} series are not in the newest run of their device: they are no regression of it",
                                              out.not_in_newest, out.series.size()));
        }
        if (told > 1) {
            out.remarks.push_back(fmt::format(
                "Each series is held to one false alarm in 300 nights at most; {} are asked here, so some small changes may be none",
                told));
        }
    }

    const History& history_;
    const Policy& policy_;
    std::string today_;
    std::vector<double> noise_;  // by run
    std::map<std::string_view, std::uint32_t> newest_;
    std::set<const Policy::Known*> run_out_;
};

}  // namespace

bool Trend::regression() const {
    return std::any_of(series.begin(), series.end(), [](const SeriesTrend& it) { return it.regression; });
}

History winners_of(const History& history, std::size_t nights) {
    History out;
    out.runs = history.runs;
    out.newest = history.newest;
    std::map<std::tuple<std::string, std::string, bool>, std::map<std::uint32_t, std::pair<const HistoryTrial*, HistoryNight>>> best;
    std::vector<const HistorySeries*> order;
    for (const HistorySeries& series : history.series) {
        auto& of_problem = best[{series.device, series.trial.problem, series.trial.cold}];
        if (of_problem.empty()) {
            order.push_back(&series);
        }
        for (const HistoryNight& night : series.nights) {
            const auto [place, added] = of_problem.try_emplace(night.run, &series.trial, night);
            const HistoryTimes& there = place->second.second.times;
            const bool ranked = night.times.rank == 1 && there.rank != 1;
            const bool faster = (there.rank == 1) == (night.times.rank == 1) && night.times.p50_us < there.p50_us;
            if (!added && (ranked || faster)) {
                place->second = {&series.trial, night};
            }
        }
    }
    std::map<std::string, std::uint32_t> codes{{"", 0}};
    for (const HistorySeries* first : order) {
        HistorySeries& series = out.series.emplace_back();
        series.device = first->device;
        series.trial = first->trial;
        series.trial.provider = own_provider;
        series.trial.configuration = "winner";
        for (auto& [run, night] : best[{first->device, first->trial.problem, first->trial.cold}]) {
            const std::string& hash = history.codes[night.second.code];
            const std::string code = hash.empty() ? "" : fmt::format("{} {}", night.first->candidate(), hash);
            const auto [place, added] = codes.try_emplace(code, static_cast<std::uint32_t>(out.codes.size()));
            if (added) {
                out.codes.push_back(code);
            }
            series.nights.push_back(night.second);
            series.nights.back().code = place->second;
        }
        keep_newest(series, nights);
    }
    return out;
}

Trend find_trend(const History& history, const Policy& policy, std::string_view today) {
    if (std::find(policy.metrics.begin(), policy.metrics.end(), Metric::latency) == policy.metrics.end()) {
        throw InputError(fmt::format("the policy {} judges no latency, which is all that a history has", quoted_for_message(policy.name)));
    }
    return Trends(history, policy, today).find();
}

}  // namespace normtune
