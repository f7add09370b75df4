#include "devices/registry.h"

#include <fmt/format.h>

#include "devices/replay/replay_device.h"
#include "support/error.h"

namespace normtune {

namespace {

[[noreturn]] void no_such_device(Backend backend, int ordinal) {
    throw InputError(fmt::format("no {} device {} is here", backend_names.name(backend), ordinal));
}

}  // namespace

std::vector<DeviceReport> find_devices() {
    return {};
}

BackendTraits backend_traits(Backend backend) {
    return backend == Backend::replay ? replay_traits() : BackendTraits{backend, {}, {}};
}

std::unique_ptr<Device> open_device(Backend backend, int ordinal, const std::string& script) {
    if (backend != Backend::replay) {
        no_such_device(backend, ordinal);
    }
    return open_replay(script);
}

DeviceInfo describe_device(Backend backend, int ordinal, const std::string& script) {
    if (backend != Backend::replay) {
        no_such_device(backend, ordinal);
    }
    return describe_replay(script);
}

}  // namespace normtune
