#include "devices/callables.h"

#include <fmt/format.h>

#include "trial/launch_manifest.h"

namespace normtune {
namespace {

CallableSource*& source_of_this_process() {
    static CallableSource* source = nullptr;
    return source;
}

}  // namespace

void set_callable_source(CallableSource* source) {
    source_of_this_process() = source;
}

bool is_callable(const Candidate& candidate) {
    return candidate.manifest() != nullptr && candidate.manifest()->is_python();
}

std::unique_ptr<Callable> prepare_callable(const Problem& problem, const Candidate& candidate, const DeviceInfo& device) {
    if (source_of_this_process() == nullptr) {
        throw DeviceError(DeviceFault::unsupported, fmt::format("{} runs in a worker of Python alone", candidate.identity()));
    }
    return source_of_this_process()->prepare(problem, *candidate.manifest(), device);
}

}  // namespace normtune
