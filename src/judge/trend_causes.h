// What the changes of a history are put down to: what changed on the same night, what the floor and the copy explain, and what other
// series of the run say. Pure. docs/history.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/trend.h"

namespace normtune {

/// Logarithms of the times of a series.
std::vector<double> log_times(const HistorySeries& series);

/// What a night (not the first) and the one before it differ by; `not_recorded`, unless null: of what it cannot be told.
std::vector<ChangedFacet> changed_at(const History& history, const HistorySeries& series, std::size_t night,
                                     std::vector<Cause>* not_recorded);

/// Nights on which something changed that may make a change: all but the revision, which changes every night.
std::vector<bool> nights_with_causes(const History& history, const HistorySeries& series);

/// All references outlive it; `trends` are all of the history, with their change points.
class CauseFinder {
public:
    CauseFinder(const History& history, const Policy& policy, std::vector<SeriesTrend>& trends);

    /// Says what each change is put down to. Series with fewer than `least_nights` do not count where it says how many could have changed.
    void find(std::size_t least_nights);

private:
    using Place = std::pair<std::string_view, std::uint32_t>;  // a device, and the number of a run on it

    void count_together(std::size_t least_nights);
    double control(std::string_view device, std::uint32_t run);
    void take_off(const SeriesTrend& trend, TrendChange& change);
    void explain(SeriesTrend& trend, TrendChange& change);
    void tell_apart(TrendChange& change, const Place& place);

    const History& history_;
    const Policy& policy_;
    std::vector<SeriesTrend>& trends_;
    std::vector<double> floors_us_;  // by run; NaN: not known
    std::map<Place, std::size_t> measured_;
    std::map<std::pair<Place, bool>, std::size_t> moved_;  // slower, or faster
    std::map<Place, double> controls_;
};

}  // namespace normtune
