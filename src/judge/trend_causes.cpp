#include "judge/trend_causes.h"

#include <algorithm>
#include <cmath>

#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr double significant = 0.001;  // of a covariate at a night that is given
constexpr double least_floor_us = 0.005;
constexpr double least_copy = 0.001;
constexpr std::size_t around = 14;  // nights on either side, in which a covariate's step is looked for
constexpr std::size_t fewest_around = 2;

double middle(const std::vector<double>& values) {
    return values.empty() ? no_value : median(values);
}

bool holds(const std::vector<Cause>& causes, Cause cause) {
    return std::find(causes.begin(), causes.end(), cause) != causes.end();
}

struct Nights {
    std::vector<double> time;      // logarithms
    std::vector<double> floor_us;  // NaN: not known
    std::vector<double> copy_us;
};

/// The levels on both sides of a change.
std::pair<std::size_t, std::size_t> around_change(const SeriesTrend& trend, std::size_t index) {
    return {index == 0 ? 0 : trend.changes[index - 1].point.night,
            index + 1 < trend.changes.size() ? trend.changes[index + 1].point.night : trend.series->nights.size()};
}

}  // namespace

std::vector<double> log_times(const HistorySeries& series) {
    std::vector<double> out;
    for (const HistoryNight& night : series.nights) {
        out.push_back(std::log(night.times.p50_us));
    }
    return out;
}

std::vector<ChangedFacet> changed_at(const History& history, const HistorySeries& series, std::size_t night,
                                     std::vector<Cause>* not_recorded) {
    const HistoryNight& a = series.nights[night - 1];
    const HistoryNight& b = series.nights[night];
    const HistoryRun& before = history.runs[a.run];
    const HistoryRun& after = history.runs[b.run];
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
    look(Cause::code, history.codes[a.code], history.codes[b.code]);
    look(Cause::revision, before.revision, after.revision);
    look(Cause::compiler, before.compiler, after.compiler);
    look(Cause::driver, before.driver, after.driver);
    look(Cause::device, before.device_id, after.device_id);
    return out;
}

std::vector<bool> nights_with_causes(const History& history, const HistorySeries& series) {
    std::vector<bool> out(series.nights.size(), false);
    for (std::size_t night = 1; night < out.size(); ++night) {
        const std::vector<ChangedFacet> changed = changed_at(history, series, night, nullptr);
        out[night] = std::any_of(changed.begin(), changed.end(), [](const ChangedFacet& it) { return it.facet != Cause::revision; });
    }
    return out;
}

// Every series of a run was measured beside the same empty launches.
CauseFinder::CauseFinder(const History& history, const Policy& policy, std::vector<SeriesTrend>& trends)
    : history_(history), policy_(policy), trends_(trends) {
    std::vector<std::vector<double>> floors(history_.runs.size());
    for (const HistorySeries& series : history_.series) {
        for (const HistoryNight& night : series.nights) {
            if (night.times.floor_us > 0) {
                floors[night.run].push_back(night.times.floor_us);
            }
        }
    }
    for (const std::vector<double>& of_run : floors) {
        floors_us_.push_back(middle(of_run));
    }
}

void CauseFinder::find(std::size_t least_nights) {
    for (SeriesTrend& trend : trends_) {
        for (TrendChange& change : trend.changes) {
            change.changed = changed_at(history_, *trend.series, change.point.night, &change.not_recorded);
        }
    }
    count_together(least_nights);
    for (SeriesTrend& trend : trends_) {
        for (TrendChange& change : trend.changes) {
            explain(trend, change);
        }
    }
}

void CauseFinder::count_together(std::size_t least_nights) {
    for (const SeriesTrend& trend : trends_) {
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
double CauseFinder::control(std::string_view device, std::uint32_t run) {
    const auto [place, added] = controls_.try_emplace(Place{device, run}, no_value);
    if (!added) {
        return place->second;
    }
    constexpr std::size_t least_controls = 3;
    std::vector<double> steps;
    for (const SeriesTrend& trend : trends_) {
        const std::vector<HistoryNight>& nights = trend.series->nights;
        const auto night =
            std::lower_bound(nights.begin(), nights.end(), run, [](const HistoryNight& a, std::uint32_t b) { return a.run < b; });
        const auto at = static_cast<std::size_t>(night - nights.begin());
        if (trend.series->device != device || night == nights.end() || night->run != run || at < fewest_around ||
            nights.size() - at < fewest_around || nights[at - 1].code != nights[at].code || nights[at].code == 0) {
            continue;
        }
        steps.push_back(
            change_at(log_times(*trend.series), trend.noise, at - std::min(at, around), at, std::min(at + around, nights.size())).size);
    }
    if (steps.size() >= least_controls) {
        place->second = median(steps);
    }
    return place->second;
}

/// What the floor and the copy moved by, and what is left of the change without that.
void CauseFinder::take_off(const SeriesTrend& trend, TrendChange& change) {
    Nights nights{log_times(*trend.series), {}, {}};
    for (const HistoryNight& night : trend.series->nights) {
        nights.floor_us.push_back(floors_us_[night.run]);
        nights.copy_us.push_back(night.times.copy_us);
    }
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
    const bool copy_known = std::none_of(copy.begin() + static_cast<std::ptrdiff_t>(begin), copy.begin() + static_cast<std::ptrdiff_t>(end),
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

void CauseFinder::explain(SeriesTrend& trend, TrendChange& change) {
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
void CauseFinder::tell_apart(TrendChange& change, const Place& place) {
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

}  // namespace normtune
