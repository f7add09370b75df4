#include "devices/compile/kernels_digest.h"

#include "devices/compile/compile_cache.h"
#include "devices/registry.h"
#include "devices/replay/replay_script.h"
#include "kernels/gpu/macros.h"
#include "support/atomic_file.h"
#include "support/build_id.h"
#include "support/error.h"

namespace normtune {

namespace {

// The CPU's kernels are in the executable, and so is all that launches them.
std::string build_text() {
    std::string id = build_id();
    if (id.empty()) {
        throw SystemError("this executable was linked without --build-id, so its kernels cannot be told from others");
    }
    return id;
}

std::string gpu_text(const DeviceInfo& device) {
    return open_compiler(device)->name() + "\n" + std::string(gpu::source());
}

std::string replay_text(const std::string& script) {
    const std::string yaml = read_file(script);
    const std::string recorded = parse_replay_script(yaml, script).recorded;
    return yaml + "\n" + (recorded.empty() ? "" : read_file(recorded));
}

std::string kernels_text(const DeviceInfo& device, const std::string& replay_script) {
    switch (device.backend) {
        case Backend::cpu:
            return build_text();
        case Backend::replay:
            return replay_text(replay_script);
        default:
            return gpu_text(device);
    }
}

}  // namespace

std::string kernels_digest(const DeviceInfo& device, const std::string& replay_script) {
    const std::string text = kernels_text(device, replay_script);
    return content_hash(text.data(), text.size());
}

}  // namespace normtune
