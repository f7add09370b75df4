// Winners as code for launchers: a C++ header, and a Python module for Triton.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/winners.h"

namespace normtune {

/// Keys of problems that an export has nothing for.
struct LeftOut {
    std::vector<std::string> unnamed;    // they differ in something that is not asked by (fp32 weights, in place, …)
    std::vector<std::string> of_others;  // other providers' kernels alone have a time

    void add(const LeftOut& more);
    /// A line each; `unnamed_as`: "no call names it".
    std::string text(std::string_view unnamed_as) const;
};

/// The winners that (op, mode, dtype, casting, rows, cols, offset, row stride) names.
struct ExportedWinners {
    DeviceInfo device;
    std::vector<std::string> remarks;    // for the head of the code: that they are for another device; what they were chosen by
    std::vector<const Record*> winners;  // by op, mode, dtype, casting, offset, strided or not, cols, rows, stride
    LeftOut left_out;
};

/// Does what launchers ask by say everything of the problem: op, mode, dtype, casting, rows, cols, offset and row stride?
bool plainly_named(const Problem& problem);

/// Of a problem in several runs the one that started last holds. Throws InputError: several devices, no winner that `named` admits, or a
/// CPU's or a replay device's where `any_device` does not ask for them.
ExportedWinners exported_winners(std::span<const Results> runs, bool any_device = false, bool (*named)(const Problem&) = plainly_named);

/// Is the row stride another one than the columns?
inline bool is_strided(const Shape& shape) {
    return shape.row_stride != shape.cols;
}

/// C++17 without dependencies: every axis, and `best(op, mode, dtype, casting, rows, cols, offset, row_stride)`.
std::string winners_cpp(const ExportedWinners& exported);

/// Python without dependencies but for the function that makes triton.Config.
std::string winners_triton(const ExportedWinners& exported);

}  // namespace normtune
