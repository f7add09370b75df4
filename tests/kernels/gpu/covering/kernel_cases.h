// The cases that the GPU kernels are run on: problems and configurations in which every pair of values appears.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/gpu/covering/covering_array.h"
#include "problem/problem.h"
#include "space/configuration.h"
#include "space/device_info.h"

namespace normtune::covering {

struct KernelCase {
    Problem problem;
    Configuration configuration;
    int steps = 1;  // rows that a group of threads takes one after another, each of tile_rows at once
    // Values that are to mean something: gamma of a type of its own, dgamma, its reduce tile.
    bool wide_gamma = false;
    bool has_dgamma = false;
    bool has_tile = false;
    std::string text() const { return problem.key() + " " + configuration.key(); }
};

/// A part of a problem or of a configuration, or two parts together whose every pair is to meet every other value.
struct Factor {
    struct Value {
        std::string text;
        std::function<void(KernelCase&)> set;
    };
    std::string name;
    std::vector<Value> values;
};

/// Factors and values that the device has at all.
std::vector<Factor> kernel_factors(const DeviceInfo& device);
std::vector<int> value_counts(const std::vector<Factor>& factors);
/// "cols=409 reduction=even".
std::string pair_text(const std::vector<Factor>& factors, const Pair& pair);

/// The case that a row of values means.
KernelCase kernel_case(const std::vector<Factor>& factors, const Row& row, const DeviceInfo& device);

/// Why there is no such case: what the kernels cannot express, what has no meaning, what takes too long here. Empty
/// where there is one.
std::string objection(const KernelCase& given, const DeviceInfo& device);

/// Rows in which every pair that the objections leave appears.
Array covering_cases(const std::vector<Factor>& factors, const DeviceInfo& device);

}  // namespace normtune::covering
