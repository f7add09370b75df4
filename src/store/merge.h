// Several results made one: the shards of a sweep, or sweeps of selections that have no problem in common. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/results.h"
#include "support/names.h"

namespace normtune {

/// What has to be alike in all results unless it is allowed to differ. version: of normtune, its sources included.
enum class MergeFacet { device, driver, version, space, cold };
inline constexpr NameTable<MergeFacet, 5> merge_facet_names{{"device", "driver", "version", "space", "cold"}};

struct MergeSettings {
    std::vector<MergeFacet> across;
    bool partial = false;  // shards that are missing or were interrupted are accepted
};

struct NamedResults {
    std::string name;  // for messages
    Results results;
    std::function<Record(std::size_t)> whole = {};  // where the records have no more than what tells them apart: all of the i-th
};

struct Merged {
    Results results;
    std::vector<std::size_t> order;  // of each record: its place among those of all files, one file after the other
    std::string refused;             // one line: why they cannot be merged; empty: they were
    std::string incomplete;          // one line: what is missing of partial ones
};

/// Problems come in the order of the whole selection where the results are shards of one, else in the order of the
/// files; a problem's trials stay as they were, with their ranks. A problem that several files have is taken once where
/// they agree in every trial of it, and is refused otherwise: its ranks rest on rounds that were measured side by side.
/// Throws InputError where a file has a trial twice, or records of
/// problems that its plans do not have. The environment is the first's, with texts that differ joined by ';'. `command` is left empty.
Merged merge_results(std::vector<NamedResults> parts, const MergeSettings& settings);

}  // namespace normtune
