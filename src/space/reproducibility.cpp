#include "space/reproducibility.h"

#include <fmt/format.h>

#include "space/common_limits.h"

namespace normtune {
namespace {

bool counts(const AxisBits& bits, Backend backend) {
    using enum AxisBits::Devices;
    return bits.rows == all || bits.rows == (backend == Backend::cpu ? cpu : gpu);
}

const AxisBits::Varying& varying(const AxisRow& row, Backend backend) {
    return backend == Backend::cpu ? row.bits.on_cpu : row.bits.on_gpu;
}

}  // namespace

std::string row_class(const Configuration& configuration, Backend backend) {
    std::string out;
    for (const AxisRow& row : axis_table) {
        const int value = axis_value(configuration, row.axis);
        const bool matters = !row.bits.in_clusters || configuration.cluster > 1;
        if (counts(row.bits, backend) && matters && (row.bits.only == -1 || row.bits.only == value)) {
            out += fmt::format("{}{}{}", out.empty() ? "" : ".", row.domain.is_number(value) ? row.key.prefix : "",
                               axis_text(row.axis, value));
        }
    }
    return out;
}

std::vector<Axis> axes_of_rows(Backend backend) {
    std::vector<Axis> out;
    for (const AxisRow& row : axis_table) {
        if (counts(row.bits, backend)) {
            out.push_back(row.axis);
        }
    }
    return out;
}

std::string varies_from_run_to_run(const Configuration& configuration, const Problem& problem, Backend backend) {
    for (const AxisRow& row : axis_table) {
        const AxisBits::Varying& v = varying(row, backend);
        if (has_dgamma(problem) && v.value != -1 && axis_value(configuration, row.axis) == v.value) {
            return fmt::format("{} {}: {}", row.name, axis_text(row.axis, v.value), v.why);
        }
    }
    return {};
}

std::string bits_help(const AxisRow& row) {
    const auto value = [&](int which) { return axis_text(row.axis, which); };
    if (row.bits.on_gpu.value != -1) {
        return fmt::format("dgamma varies: {} (gpu), {} (cpu)", value(row.bits.on_gpu.value), value(row.bits.on_cpu.value));
    }
    using enum AxisBits::Devices;
    const AxisBits::Devices rows = row.bits.rows;
    if (rows == none || rows == unstated) {
        return "";
    }
    const std::string clusters = row.bits.in_clusters ? ", in clusters" : "";
    return fmt::format("a row's: {}{}",
                       rows == all   ? "gpu, cpu"
                       : rows == gpu ? "gpu"
                                     : "cpu",
                       row.bits.only == -1 ? clusters : fmt::format(" ({} alone{})", value(row.bits.only), clusters));
}

Rule deterministic_rule(Backend backend) {
    std::string keep = "forward || !affine";
    std::string others;
    for (const AxisRow& row : axis_table) {
        if (const int value = varying(row, backend).value; value != -1) {
            others += fmt::format("{}{} != {}", others.empty() ? "" : " && ", row.name, axis_text(row.axis, value));
        }
    }
    return {std::string(deterministic_rule_name), fmt::format("{} || ({})", keep, others), false, "--deterministic", 0};
}

}  // namespace normtune
