#include "trial/claims.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace normtune {
namespace {

/// A value, or a list of some.
template <typename T, typename Read>
void read_values(const JsonReader& in, const char* name, bool required, std::vector<T>& values, const Read& read) {
    const auto member = required ? std::optional(in.at(name)) : in.find(name);
    if (!member) {
        return;
    }
    values.clear();
    if (!member->json().is_array()) {
        values.push_back(read(*member));
        return;
    }
    for (std::size_t i = 0; i < member->size(); ++i) {
        values.push_back(read(member->element(i)));
    }
    if (values.empty()) {
        member->fail("is empty: it claims nothing");
    }
}

template <typename E, std::size_t N>
void read_names(const JsonReader& in, const char* name, bool required, const NameTable<E, N>& table, std::vector<E>& values) {
    read_values(in, name, required, values, [&](const JsonReader& one) { return one.name_of(table); });
}

template <typename T>
bool has_one(const std::vector<T>& values, const T& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

template <typename E, std::size_t N>
std::string joined(const std::vector<E>& values, const NameTable<E, N>& table) {
    std::string out;
    for (const E value : values) {
        out += fmt::format("{}{}", out.empty() ? "" : ", ", table.name(value));
    }
    return out;
}

}  // namespace

bool Claims::has(const Operation& operation) const {
    const bool weights = !operation.affine || (weight_dtypes.empty() ? operation.weight_dtype == operation.dtype
                                                                     : has_one(weight_dtypes, operation.weight_dtype));
    return has_one(ops, operation.op) && has_one(modes, operation.mode) && has_one(dtypes, operation.dtype) &&
           has_one(castings, operation.casting) && weights && has_one(affine, operation.affine) && has_one(offsets, operation.offset) &&
           (operation.mode == Mode::forward || has_one(in_place, operation.in_place)) &&
           (!operation.adds_residual() || has_one(residuals, operation.residual));
}

std::string Claims::text() const {
    return fmt::format("is for op {}; mode {}; dtype {}; casting {}{}", joined(ops, op_names), joined(modes, mode_names),
                       joined(dtypes, dtype_names), joined(castings, casting_names),
                       weight_dtypes.empty() ? "" : "; weight_dtype " + joined(weight_dtypes, dtype_names));
}

std::vector<Operation> Claims::operations() const {
    std::vector<Operation> out;
    for (const Op op : ops) {
        for (const Mode mode : modes) {
            Operation operation;
            operation.op = op;
            operation.mode = mode;
            operation.dtype = dtypes.front();
            operation.casting = castings.front();
            operation.weight_dtype = weight_dtypes.empty() ? operation.dtype : weight_dtypes.front();
            operation.affine = has_one(affine, true);
            operation.offset = offsets.front();
            operation.residual = residuals.front();
            out.push_back(operation);
        }
    }
    return out;
}

Claims read_claims(const JsonReader& in) {
    in.only({"op", "mode", "dtype", "casting", "weight_dtype", "affine", "offset", "in_place", "residual"});
    Claims claims;
    read_names(in, "op", true, op_names, claims.ops);
    read_names(in, "mode", true, mode_names, claims.modes);
    read_names(in, "dtype", true, dtype_names, claims.dtypes);
    read_names(in, "casting", true, casting_names, claims.castings);
    read_names(in, "weight_dtype", false, dtype_names, claims.weight_dtypes);
    read_names(in, "residual", false, residual_names, claims.residuals);
    const auto flag = [](const JsonReader& one) { return one.flag(); };
    read_values(in, "affine", false, claims.affine, flag);
    read_values(in, "in_place", false, claims.in_place, flag);
    read_values(in, "offset", false, claims.offsets, [](const JsonReader& one) { return one.integer(0, 1); });
    return claims;
}

}  // namespace normtune
