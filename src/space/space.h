// A search space: the values of each axis, and the rules that prune it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "space/axes.h"
#include "space/configuration.h"

namespace normtune {

/// Keep a configuration where `keep` is not 0; a result that is not finite is an error. Functions: support/expression.h.
/// Variables: every axis by its name (each named value is a constant, e.g. `reduction == masked`, `block_size == row`;
/// offset_bits is auto, 32 or 64); rows, cols, row_stride, element_bytes, weight_bytes, forward (there is no backward: the
/// mode is forward or inference), backward, full, inference, fused, affine, in_place (0 or 1); warp_size, compute_units, shared_bytes,
/// cache_bytes; block (the block size with whole_row as the next power of two ≥ cols), threads (num_warps·warp_size), rows_side_by_side;
/// and, once compiled, code_registers, code_spill_bytes, code_shared_bytes, code_occupancy.
struct Rule {
    std::string name;
    std::string keep;
    bool keep_all_if_none = false;  // where the rule would leave nothing of a problem's space, it takes nothing
    std::string file;               // where it stands, for messages
    int line = 0;
};

struct AxisValues {
    Axis axis;
    std::vector<int> values;  // distinct, in the file's order
};

struct SearchSpace {
    std::string name;
    std::vector<AxisValues> axes;   // an axis that is not listed has its default value alone
    std::vector<Rule> rules;        // applied in this order, after the backend's limits
    bool of_listed_points = false;  // each was asked for: none is left out as one that another stands for
    std::uint64_t points() const;   // the product of the axes' sizes, before pruning; InputError beyond 2^64
};

/// Reads a space file, or the space of a study; rules are compiled once to check them. A name that is no file is looked
/// up among the shipped spaces, then studies ("quick", "quick.yaml", "te_615"). Throws InputError (file, line, what is
/// wrong, what would be right).
SearchSpace load_space(const std::string& path_or_name);
SearchSpace parse_space(std::string_view yaml, const std::string& file_for_messages);

/// TransformerEngine's rule: cols/16 <= num_warps·warp_size <= cols·2, keep all where nothing is left.
Rule default_threads_per_row_rule();

}  // namespace normtune
