// Winners as a Python package for PyTorch: their machine code, a table of which serves what, and the package's own files, which
// are those of python/torch_package.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"
#include "report/export/best_export.h"
#include "space/configuration.h"
#include "space/device_info.h"
#include "store/results.h"

namespace normtune {

struct TorchFile {
    std::string_view path;
    std::string_view text;
};
std::span<const TorchFile> torch_files();

/// Machine code of the package: what is compiled, and for what.
struct TorchCode {
    std::string file;    // "sm_90/rms_norm-forward-bf16-4096-0.cubin"
    std::size_t device;  // of TorchPackage::devices
    Problem problem;
    Configuration configuration;
    std::string measured;  // hash of the machine code that was measured; empty: not recorded
};

struct TorchPackage {
    std::vector<DeviceInfo> devices;  // one each that results are of
    std::vector<TorchCode> codes;     // each once, whatever it serves
    std::string table;                // kernels.txt; lines that begin with # are remarks
    std::size_t winners = 0;
    LeftOut left_out;  // of all devices
};

/// Throws InputError: a device whose code is no cubin, or no winner.
/// `remarks`: what the winners were chosen by, for the table.
TorchPackage torch_package(std::span<const Results> runs, std::span<const std::string> remarks = {});

}  // namespace normtune
