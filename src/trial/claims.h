// Which problems a launch.json says that its kernel is for.
#pragma once

#include <string>
#include <vector>

#include "problem/problem.h"
#include "support/json_reader.h"

namespace normtune {

struct Claims {
    std::vector<Op> ops;
    std::vector<Mode> modes;
    std::vector<Dtype> dtypes;
    std::vector<Casting> castings;
    std::vector<Dtype> weight_dtypes;  // empty: that of x
    std::vector<bool> affine{true};
    std::vector<int> offsets{0};
    std::vector<bool> in_place{false};
    std::vector<ResidualPrecision> residuals{ResidualPrecision::rounded};

    bool has(const Operation& operation) const;
    /// "op rms_norm; mode forward; dtype bf16, fp16; casting llama".
    std::string text() const;
    /// The operations that it has.
    std::vector<Operation> operations() const;
};

/// Throws InputError.
Claims read_claims(const JsonReader& in);

}  // namespace normtune
