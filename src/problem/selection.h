// What is taken of shape files, and the problems made of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/shapes_file.h"

namespace normtune {

/// Narrows what the files say; an empty list leaves that part as the file has it.
struct Selection {
    std::vector<std::string> models;  // names, matched without case; '*' and '?' as in a shell
    std::vector<std::string> sites;   // likewise
    std::vector<std::int64_t> tokens;
    std::vector<Dtype> dtypes;
    std::vector<Op> ops;
    std::vector<Mode> modes;
    std::vector<Casting> castings;
    bool in_place = false;                      // of backward and full, and of inference where rows are contiguous
    std::optional<ResidualPrecision> residual;  // of ops that add one; none: rounded
    std::optional<WeightType> weight_type;      // empty: as the file says
    friend bool operator==(const Selection&, const Selection&) = default;
};

/// Has a model the op at that site? (No residual is added before q_norm, k_norm, q_a and kv_a.)
bool occurs_at(Op op, std::string_view site);
/// Has the op the passes of the mode? They touch tensors.
bool has_mode(const OpDescriptor& op, Mode mode);

/// The problems of the files under the selection, in file order, each piece of work once with all of its uses (of two
/// models that differ in eps alone, the first one's eps). An op is left out at sites where it does not occur, and in
/// modes that it does not have.
/// Throws InputError: a model or site that no file has (with what there is), sizes out of bounds, or nothing selected.
std::vector<Problem> select_problems(const std::vector<ShapesFile>& files, const Selection& selection);

}  // namespace normtune
