// Faults that a test plants in configurations, so that what a sweep makes of them is seen on a real device: a device
// around the device, made only where NORMTUNE_PLANT_FAULTS asks for it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "devices/compile/compile_cache.h"
#include "devices/device.h"
#include "devices/gpu/driver.h"
#include "support/names.h"

namespace normtune::gpu {

/// illegal_address: a kernel before the op writes where no memory is. hang: one never ends. out_of_memory: memory is asked
/// for that no device has.
enum class PlantedFault { none, illegal_address, hang, out_of_memory };
inline constexpr NameTable<PlantedFault, 4> planted_fault_names{{"none", "illegal_address", "hang", "out_of_memory"}};

/// For every run with planted faults; empty where the environment asks for none.
std::string planted_faults_warning();

class PlantedFaults {
public:
    /// From NORMTUNE_PLANT_FAULTS: "FAULT=KEY;FAULT=KEY", a candidate's identity each. Throws InputError: unknown fault,
    /// key that does not parse.
    static PlantedFaults from_environment();
    bool empty() const { return faults_.empty(); }
    PlantedFault of(const Candidate& candidate) const;

private:
    std::map<std::string, PlantedFault> faults_;  // by key
};

/// Compiled with a vendor's own options: what `plant` takes as `image`.
const SourceText& planted_source();

/// `device`, with faults in the configurations named. Each of its launches for verification commits them.
std::unique_ptr<Device> plant(std::unique_ptr<Device> device, const Driver& driver, const void* image, PlantedFaults faults);

}  // namespace normtune::gpu
