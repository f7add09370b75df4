// What a history says: where each series changed, what changed with it, and whether the newest run is a regression. Pure: no files, no
// clock. docs/history.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/change_points.h"
#include "judge/policy.h"
#include "store/history.h"

namespace normtune {

/// What a change is put down to. machine: the code is the same, and nothing else that is recorded changed. unknown: no code is recorded,
/// and nothing else changed.
enum class Cause { code, revision, compiler, driver, device, floor, copy, machine, unknown };
inline constexpr NameTable<Cause, 9> cause_names{
    {"code", "revision", "compiler", "driver", "device", "floor", "copy", "machine", "unknown"}};

/// What the run before and the first of the new level differ by.
struct ChangedFacet {
    Cause facet = Cause::code;  // code, revision, compiler, driver or device
    std::string before;
    std::string after;
};

struct TrendChange {
    ChangePoint point;                  // nights are places in HistorySeries::nights
    LevelChange own;                    // without what the floor and the copy moved by
    std::vector<ChangedFacet> changed;  // with it
    std::vector<Cause> not_recorded;    // of these it cannot be told
    double floor_us = 0;                // what an empty launch moved by then; 0: it did not
    double copy = 0;                    // the same of the copy's logarithm, without the floor
    std::size_t with_it = 0;            // series of the device that changed on the same night in the same direction, this one among them
    std::size_t of = 0;                 // series that could have
    std::vector<Cause> causes;          // one; several where the data cannot tell them apart
    bool judged = false;                // by the policy: it may make a regression
};

/// One series as a page would draw it: its nights, levels and changes.
struct SeriesTrend {
    const HistorySeries* series = nullptr;
    std::vector<double> noise;  // of each night, times the usual
    std::vector<TrendChange> changes;
    bool in_newest = false;  // measured on its device's newest night: in a run that began when the newest one did
    double slower = 0;       // logarithm: the present level over the best that it had, of changes that are judged
    double threshold = 0;    // the policy's
    bool regression = false;
    std::string known;  // why a regression is excused; empty: it is not
};

struct Trend {
    std::vector<SeriesTrend> series;  // in the history's order
    std::string policy;
    std::vector<std::string> remarks;  // what concerns no single series
    std::size_t too_short = 0;         // series with too few nights to say anything
    std::size_t not_in_newest = 0;
    bool regression() const;
};

/// Of each device, problem, and cold or hot one series: each night's winner, else its fastest; its code is that of the trial with its key.
/// `nights`: the newest so many of each; 0: all.
History winners_of(const History& history, std::size_t nights = 0);

/// The history has to outlive the trend. `today` is "2026-11-20". Throws InputError where the policy does not judge latency.
Trend find_trend(const History& history, const Policy& policy, std::string_view today);

}  // namespace normtune
