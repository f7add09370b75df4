// The oracle on the device: compares there what lies there, and hands over one summary an output.
#pragma once

#include <memory>
#include <vector>

#include "devices/device.h"
#include "verify/oracle.h"

namespace normtune {

/// Of the tensors of one buffer set.
class DeviceOracle {
public:
    /// `pristine`: keeps copies of the inputs that a launch writes over, and what tells whether the others were. `given_rstd`:
    /// a backward's rstd lies there already; else the contract's own is put there.
    DeviceOracle(Device& device, DeviceProgram& program, const Problem& problem, const RoundingContract& contract, const Buffers& buffers,
                 int set, bool pristine, bool given_rstd);
    OracleSums sums() const;
    std::vector<OutputSummary> compare();
    /// Puts back the inputs that a launch writes over.
    void restore();
    /// An input that is not what it was.
    std::vector<TensorRole> changed();

private:
    struct Kept {
        Tensor tensor;
        std::uint64_t address = 0;
        std::unique_ptr<DeviceMemory> copy{};  // of what a launch writes over
        std::uint64_t digest = 0;              // of other inputs
    };
    std::int64_t programs_for(std::int64_t work) const;
    std::uint64_t digest(const Kept& kept);
    void launch(const char* kernel, std::int64_t programs);

    DeviceProgram& program_;
    Problem problem_;
    std::int64_t most_programs_;
    std::int64_t programs_;
    std::unique_ptr<DeviceMemory> task_;
    std::unique_ptr<DeviceMemory> sums_;
    std::unique_ptr<DeviceMemory> partials_;
    std::unique_ptr<DeviceMemory> summaries_;
    std::vector<Kept> inputs_;
};

/// Device::load_ahead of what the next function loads.
void load_device_oracle_ahead(Device& device, const Operation& operation);

/// Null where the device has no programs.
std::unique_ptr<DeviceProgram> load_device_oracle(Device& device, const Operation& operation);
/// Throws DeviceError, launch_failed, where the program does not compute what the host's oracle does, by that contract, on a small problem
/// of the operation.
void check_device_oracle(Device& device, DeviceProgram& program, const Operation& operation, const RoundingContract& contract);

}  // namespace normtune
