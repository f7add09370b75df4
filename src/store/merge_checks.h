// May these results be merged, and are all shards there? Each answer is one line, empty where nothing is in the way.
#pragma once

#include <string>
#include <vector>

#include "store/merge.h"

namespace normtune {

/// Both say which sweep they are of, and it is the same.
bool same_sweep(const Results& a, const Results& b);

/// The shards of `one`'s sweep that are in any of the parts, ascending.
std::vector<int> shards_present(const std::vector<NamedResults>& parts, const Results& one);

/// Which facet differs, in which files, and what would allow it.
std::string why_not_alike(const std::vector<NamedResults>& parts, const std::vector<MergeFacet>& across);

/// Shards of one sweep that was divided into different numbers of them.
std::string why_not_one_division(const std::vector<NamedResults>& parts);

/// Shards that are missing, sweeps that were interrupted, shards that were not divided alike.
std::string why_not_whole(const std::vector<NamedResults>& parts);

}  // namespace normtune
