// Winners as code for launchers: a C++ header, and a Python module for Triton.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/winners.h"

namespace normtune {

/// The winners that (op, mode, dtype, casting, rows, cols) names.
struct ExportedWinners {
    DeviceInfo device;
    std::vector<const Record*> winners;  // by op, mode, dtype, casting, cols, rows
    std::vector<std::string> left_out;   // keys of problems that differ in something else (a row stride, fp32 weights, …)
};

/// Of a problem in several runs the one that started last holds. Throws InputError: several devices, or no winner.
ExportedWinners exported_winners(std::span<const Results> runs);

/// C++17 without dependencies: every axis, and `best(op, mode, dtype, casting, rows, cols)`.
std::string winners_cpp(const ExportedWinners& exported);

/// Python without dependencies but for the function that makes triton.Config.
std::string winners_triton(const ExportedWinners& exported);

}  // namespace normtune
