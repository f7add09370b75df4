#include "judge/trend.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "measure/statistics.h"
#include "problem/problem.h"
#include "support/error.h"
#include "trial/candidate.h"

namespace normtune {
namespace {

constexpr std::size_t least_nights = 13;  // what find_change_points needs before it can tell anything
constexpr double significant = 0.01;      // of a covariate at a night that is given
constexpr double least_floor_us = 0.005;
constexpr double least_copy = 0.001;
constexpr std::size_t around = 14;  // nights on either side, in which a covariate's step is looked for
constexpr std::size_t fewest_around = 2;

double middle(std::vector<double> values) {
    return values.empty() ? no_value : median(values);
}

bool holds(const std::vector<Cause>& causes, Cause cause) {
    return std::find(causes.begin(), causes.end(), cause) != causes.end();
}

/// What a series is at each of its nights, on logarithms.
struct Nights {
    std::vector<double> time;
    std::vector<double> floor_us;  // NaN: not known
    std::vector<double> copy_us;
};

/// All series with what they share: the floor of a run, how noisy it was, what changed on the same night.
class Trends {
public:
    Trends(const History& history, const Policy& policy, std::string_view today) : history_(history), policy_(policy), today_(today) {}

    Trend find() {
        Trend out;
        out.policy = policy_.name;
        share_floors();
        share_noise();
        for (const HistorySeries& series : history_.series) {
            out.series.push_back(find(series));
            out.too_short += series.nights.size() < least_nights ? 1 : 0;
            out.not_in_newest += out.series.back().in_newest ? 0 : 1;
        }
        trends_ = &out.series;
        count_together();
        for (SeriesTrend& trend : out.series) {
            for (TrendChange& change : trend.changes) {
                explain(trend, change);
            }
            judge(trend);
        }
        remark(out);
        return out;
    }

private:
    // A device's night by the run's number, and the series that were measured in it.
    using Place = std::pair<std::string_view, std::uint32_t>;

    /// Every series of a run was measured beside the same empty launches.
    void share_floors() {
        std::vector<std::vector<double>> floors(history_.runs.size());
        for (const HistorySeries& series : history_.series) {
            for (const HistoryNight& night : series.nights) {
                newest_[series.device] = std::max(newest_[series.device], night.run);
                if (night.times.floor_us > 0) {
                    floors[night.run].push_back(night.times.floor_us);
                }
            }
        }
        for (std::vector<double>& of_run : floors) {
            floors_us_.push_back(middle(std::move(of_run)));
        }
    }

    void share_noise() {
        noise_.assign(history_.runs.size(), 1);
        std::map<std::string_view, std::vector<std::uint32_t>> runs;
        for (const HistorySeries& series : history_.series) {
            for (const HistoryNight& night : series.nights) {
                runs[series.device].push_back(night.run);
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

    static std::vector<double> times_of(const HistorySeries& series) {
        std::vector<double> out;
        for (const HistoryNight& night : series.nights) {
            out.push_back(std::log(night.times.p50_us));
        }
        return out;
    }

    SeriesTrend find(const HistorySeries& series) {
        SeriesTrend out;
        out.series = &series;
        out.in_newest = series.nights.back().run == newest_[series.device];
        for (const HistoryNight& night : series.nights) {
            out.noise.push_back(noise_[night.run]);
        }
        for (const ChangePoint& point : find_change_points(times_of(series), out.noise)) {
            TrendChange& change = out.changes.emplace_back();
            change.point = point;
            change.own = point.change;
        }
        for (std::size_t i = 0; i < out.changes.size(); ++i) {
            move_to_cause(out, i);
        }
        return out;
    }

    /// Of the nights that the data leave open the nearest one on which something changed that may make a change.
    void move_to_cause(SeriesTrend& trend, std::size_t index) {
        ChangePoint& point = trend.changes[index].point;
        std::size_t best = point.night;
        std::size_t distance = SIZE_MAX;
        for (std::size_t night = std::max<std::size_t>(1, point.earliest); night <= point.latest; ++night) {
            const std::size_t away = night > point.night ? night - point.night : point.night - night;
            if (away < distance && may_change(*trend.series, night)) {
                best = night;
                distance = away;
            }
        }
        if (best != point.night) {
            point.night = best;
            const auto [begin, end] = around_change(trend, index);
            point.change = trend.changes[index].own = change_at(times_of(*trend.series), trend.noise, begin, best, end);
        }
        trend.changes[index].changed = changed_at(*trend.series, point.night, &trend.changes[index].not_recorded);
    }

    bool may_change(const HistorySeries& series, std::size_t night) const {
        const std::vector<ChangedFacet> changed = changed_at(series, night, nullptr);
        return std::any_of(changed.begin(), changed.end(), [](const ChangedFacet& it) { return it.facet != Cause::revision; });
    }

    std::vector<ChangedFacet> changed_at(const HistorySeries& series, std::size_t night, std::vector<Cause>* not_recorded) const {
        const HistoryNight& a = series.nights[night - 1];
        const HistoryNight& b = series.nights[night];
        const HistoryRun& before = history_.runs[a.run];
        const HistoryRun& after = history_.runs[b.run];
        std::vector<ChangedFacet> out;
        const auto look = [&](Cause facet, const std::string& was, const std::string& is) {
            if (was.empty() || is.empty()) {
                if (not_recorded != nullptr) {
                    not_recorded->push_back(facet);
                }
            } else if (was != is) {
                out.push_back({facet, was, is});
            }
        };
        look(Cause::code, history_.codes[a.code], history_.codes[b.code]);
        look(Cause::revision, before.revision, after.revision);
        look(Cause::compiler, before.compiler, after.compiler);
        look(Cause::driver, before.driver, after.driver);
        look(Cause::device, before.device_id, after.device_id);
        return out;
    }

    /// The levels on both sides of a change.
    static std::pair<std::size_t, std::size_t> around_change(const SeriesTrend& trend, std::size_t index) {
        return {index == 0 ? 0 : trend.changes[index - 1].point.night,
                index + 1 < trend.changes.size() ? trend.changes[index + 1].point.night : trend.series->nights.size()};
    }

    void count_together() {
        for (const SeriesTrend& trend : *trends_) {
            const HistorySeries& series = *trend.series;
            for (std::size_t i = 1; i < series.nights.size() && series.nights.size() >= least_nights; ++i) {
                ++measured_[{series.device, series.nights[i].run}];
            }
            for (const TrendChange& change : trend.changes) {
                ++moved_[{Place{series.device, series.nights[change.point.night].run}, change.point.change.size > 0}];
            }
        }
    }

    /// The usual step on a night of series whose code did not change then; NaN where there are too few.
    double control(std::string_view device, std::uint32_t run) {
        const auto [place, added] = controls_.try_emplace(Place{device, run}, no_value);
        if (!added) {
            return place->second;
        }
        constexpr std::size_t least_controls = 3;
        std::vector<double> steps;
        for (const SeriesTrend& trend : *trends_) {
            const std::vector<HistoryNight>& nights = trend.series->nights;
            const auto night =
                std::lower_bound(nights.begin(), nights.end(), run, [](const HistoryNight& a, std::uint32_t b) { return a.run < b; });
            const auto at = static_cast<std::size_t>(night - nights.begin());
            if (trend.series->device != device || night == nights.end() || night->run != run || at < fewest_around ||
                nights.size() - at < fewest_around || nights[at - 1].code != nights[at].code || nights[at].code == 0) {
                continue;
            }
            steps.push_back(
                change_at(times_of(*trend.series), trend.noise, at - std::min(at, around), at, std::min(at + around, nights.size())).size);
        }
        if (steps.size() >= least_controls) {
            place->second = median(steps);
        }
        return place->second;
    }

    Nights nights_of(const HistorySeries& series) const {
        Nights out;
        out.time = times_of(series);
        for (const HistoryNight& night : series.nights) {
            out.floor_us.push_back(floors_us_[night.run]);
            out.copy_us.push_back(night.times.copy_us);
        }
        return out;
    }

    /// What the floor and the copy moved by, and what is left of the change without that.
    void take_off(const SeriesTrend& trend, TrendChange& change) {
        const Nights nights = nights_of(*trend.series);
        const std::size_t split = change.point.night;
        const auto index = static_cast<std::size_t>(&change - trend.changes.data());
        const auto [from, to] = around_change(trend, index);
        const std::size_t begin = std::max(from, split - std::min(split, around));
        const std::size_t end = std::min(to, split + around);
        const auto known = [&](const std::vector<double>& values) {
            return std::all_of(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end),
                               [](double value) { return value > 0; });
        };
        if (split - begin < fewest_around || end - split < fewest_around) {
            return;
        }
        std::vector<double> above_us(nights.time.size(), 0);
        if (known(nights.floor_us)) {
            const LevelChange step = change_at(nights.floor_us, {}, begin, split, end);
            if (step.p <= significant && std::abs(step.size) >= least_floor_us) {
                const double usual = middle({nights.floor_us.begin() + static_cast<std::ptrdiff_t>(begin),
                                             nights.floor_us.begin() + static_cast<std::ptrdiff_t>(split)});
                for (std::size_t i = begin; i < end; ++i) {
                    above_us[i] = nights.floor_us[i] - usual;
                }
                change.floor_us = step.size;
            }
        }
        std::vector<double> left = nights.time;
        std::vector<double> copy = nights.copy_us;
        for (std::size_t i = begin; i < end; ++i) {
            const double us = std::exp(nights.time[i]) - above_us[i];
            left[i] = us > 0 ? std::log(us) : nights.time[i];
            copy[i] = copy[i] > above_us[i] ? std::log(copy[i] - above_us[i]) : no_value;
        }
        LevelChange own = change.floor_us == 0 ? change.point.change : change_at(left, trend.noise, begin, split, end);
        const bool copy_known =
            std::none_of(copy.begin() + static_cast<std::ptrdiff_t>(begin), copy.begin() + static_cast<std::ptrdiff_t>(end),
                         [](double value) { return std::isnan(value); });
        if (copy_known) {
            const LevelChange step = change_at(copy, trend.noise, begin, split, end);
            if (step.p <= significant && std::abs(step.size) >= least_copy) {
                for (std::size_t i = begin; i < end; ++i) {
                    left[i] -= copy[i];
                }
                const LevelChange beside = change_at(left, trend.noise, begin, split, end);
                change.copy = step.size;
                own = std::abs(beside.size) < std::abs(own.size) ? beside : own;
            }
        }
        change.own = std::abs(own.size) < std::abs(change.point.change.size) ? own : change.point.change;
    }

    void explain(SeriesTrend& trend, TrendChange& change) {
        take_off(trend, change);
        const HistorySeries& series = *trend.series;
        const Place place{series.device, series.nights[change.point.night].run};
        change.with_it = moved_[{place, change.point.change.size > 0}];
        change.of = measured_[place];
        const bool moved = change.floor_us != 0 || change.copy != 0;
        const bool explained = (change.own.low <= 0 && change.own.high >= 0) || std::abs(change.own.size) < policy_.run_to_run;
        if (moved && explained) {
            if (change.floor_us != 0) {
                change.causes.push_back(Cause::floor);
            }
            if (change.copy != 0) {
                change.causes.push_back(Cause::copy);
            }
            return;
        }
        for (const ChangedFacet& facet : change.changed) {
            if (facet.facet != Cause::revision) {
                change.causes.push_back(facet.facet);
            }
        }
        if (holds(change.causes, Cause::code) && change.causes.size() > 1) {
            tell_apart(change, place);
        }
        if (change.causes.empty()) {
            const bool same_code = !holds(change.not_recorded, Cause::code);
            const bool new_revision = std::any_of(change.changed.begin(), change.changed.end(),
                                                  [](const ChangedFacet& facet) { return facet.facet == Cause::revision; });
            change.causes.push_back(same_code ? Cause::machine : new_revision ? Cause::revision : Cause::unknown);
        }
    }

    /// Code and something else changed: series whose code did not say what the rest makes.
    void tell_apart(TrendChange& change, const Place& place) {
        const double others = control(place.first, place.second);
        const double own = change.own.size;
        constexpr double most_of = 0.5;
        if (std::isnan(others)) {
            return;
        }
        if (others * own > 0 && std::abs(others) >= most_of * std::abs(own)) {
            std::erase(change.causes, Cause::code);
        } else {
            change.causes = {Cause::code};
        }
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
            if (trend.regression && known.pairs.matches(subject) && today_ <= known.until) {
                trend.regression = false;
                trend.known = fmt::format("known until {}: {}", known.until, known.reason);
            }
        }
    }

    void remark(Trend& out) const {
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
    std::vector<double> floors_us_;  // by run; NaN: not known
    std::vector<double> noise_;      // by run
    std::map<std::string_view, std::uint32_t> newest_;
    const std::vector<SeriesTrend>* trends_ = nullptr;
    std::map<Place, std::size_t> measured_;
    std::map<std::pair<Place, bool>, std::size_t> moved_;
    std::map<Place, double> controls_;
};

}  // namespace

bool Trend::regression() const {
    return std::any_of(series.begin(), series.end(), [](const SeriesTrend& it) { return it.regression; });
}

History winners_of(const History& history) {
    History out;
    out.runs = history.runs;
    std::map<std::tuple<std::string, std::string, bool>, std::map<std::uint32_t, std::pair<const HistoryTrial*, HistoryNight>>> best;
    std::vector<const HistorySeries*> order;
    for (const HistorySeries& series : history.series) {
        auto& nights = best[{series.device, series.trial.problem, series.trial.cold}];
        if (nights.empty()) {
            order.push_back(&series);
        }
        for (const HistoryNight& night : series.nights) {
            const auto [place, added] = nights.try_emplace(night.run, &series.trial, night);
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
