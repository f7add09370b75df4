// Faults that a test plants in configurations, so that what a sweep makes of them is seen on a real device.
#pragma once

#include <map>
#include <string>

#include "space/configuration.h"
#include "support/names.h"

namespace normtune::gpu {

/// illegal_address: outputs lie where no memory is. hang: a kernel before the op never ends. out_of_memory: a workspace
/// that no device has.
enum class PlantedFault { none, illegal_address, hang, out_of_memory };
inline constexpr NameTable<PlantedFault, 4> planted_fault_names{{"none", "illegal_address", "hang", "out_of_memory"}};

class PlantedFaults {
public:
    /// From NORMTUNE_PLANT_FAULTS: "FAULT=KEY;FAULT=KEY", a configuration's key each. Throws InputError: unknown fault,
    /// key that does not parse.
    static PlantedFaults from_environment();
    PlantedFault of(const Configuration& configuration) const;

private:
    std::map<std::string, PlantedFault> faults_;  // by key
};

}  // namespace normtune::gpu
