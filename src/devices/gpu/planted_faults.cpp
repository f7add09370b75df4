#include "devices/gpu/planted_faults.h"

#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune::gpu {

PlantedFaults PlantedFaults::from_environment() {
    PlantedFaults out;
    const char* text = std::getenv("NORMTUNE_PLANT_FAULTS");
    std::stringstream stream(text == nullptr ? "" : text);
    for (std::string one; std::getline(stream, one, ';');) {
        const std::size_t equals = one.find('=');
        const auto fault = planted_fault_names.find(one.substr(0, equals));
        if (equals == std::string::npos || !fault) {
            throw InputError(fmt::format("NORMTUNE_PLANT_FAULTS: {} is no planted fault; it reads like {}=KEY", quoted_for_message(one),
                                         fmt::join(planted_fault_names.names, "|")));
        }
        out.faults_[Configuration::parse(one.substr(equals + 1)).key()] = *fault;
    }
    return out;
}

PlantedFault PlantedFaults::of(const Configuration& configuration) const {
    const auto found = faults_.find(configuration.key());
    return found == faults_.end() ? PlantedFault::none : found->second;
}

}  // namespace normtune::gpu
