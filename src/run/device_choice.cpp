#include "run/device_choice.h"

#include <fmt/format.h>

#include "devices/registry.h"
#include "support/error.h"

namespace normtune {
namespace {

DeviceInfo best_device(std::optional<int> ordinal) {
    for (const DeviceReport& report : find_devices()) {
        if (report.info && report.info->ordinal == ordinal.value_or(report.info->ordinal)) {
            return *report.info;
        }
    }
    throw InputError(fmt::format("--device: there is no device {}; normtune devices says what is here", ordinal.value_or(0)));
}

}  // namespace

void DeviceChoice::set(SweepOptions& options) const {
    options.backend = backend;
    options.ordinals = ordinals;
    options.replay_script = replay_script;
}

DeviceChoice choose_devices(const DeviceWish& wish) {
    if (wish.all && !wish.ordinals.empty()) {
        throw InputError("--device: 'all' and the numbers of some exclude each other");
    }
    if ((wish.backend == Backend::replay) != !wish.replay_script.empty()) {
        throw InputError("--backend replay and --replay-script FILE need each other");
    }
    const std::optional<int> first = wish.ordinals.empty() ? std::nullopt : std::optional(wish.ordinals.front());
    DeviceChoice chosen;
    chosen.replay_script = wish.replay_script;
    chosen.info = wish.backend ? describe_device(*wish.backend, first.value_or(0), wish.replay_script) : best_device(first);
    chosen.backend = wish.backend.value_or(chosen.info.backend);
    chosen.ordinals = {wish.backend ? first.value_or(0) : chosen.info.ordinal};
    for (const int ordinal : wish.all ? usable_ordinals(chosen.backend, wish.replay_script) : wish.ordinals) {
        if (ordinal != chosen.ordinals.front()) {
            describe_device(chosen.backend, ordinal, wish.replay_script);  // throws where it is not there
            chosen.ordinals.push_back(ordinal);
        }
    }
    return chosen;
}

}  // namespace normtune
