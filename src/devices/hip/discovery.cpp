#include "devices/hip/discovery.h"

#include <array>

#include <fmt/format.h>

#include "kernels/gpu/limits.h"

namespace normtune::hip {
namespace {

struct Known {
    const char* arch;
    const char* name;
    int warp_size;
    int compute_units;
    std::int64_t cache_mib;  // the last-level one
    std::int64_t memory_gib;
};

// Compute units, L2 or Infinity Cache, memory: AMD's data sheets of the Instinct MI250X (one of its two dies), MI300X,
// Radeon RX 6900 XT and RX 7900 XTX. A work-group has at most 64 KiB of LDS on all of them (LLVM, User Guide for AMDGPU
// Backend).
constexpr std::array<Known, 4> known{{{"gfx90a", "AMD MI250X (planned)", 64, 110, 8, 64},
                                      {"gfx942", "AMD MI300X (planned)", 64, 304, 256, 192},
                                      {"gfx1030", "AMD RX 6900 XT (planned)", 32, 80, 128, 16},
                                      {"gfx1100", "AMD RX 7900 XTX (planned)", 32, 96, 96, 24}}};

}  // namespace

std::vector<std::string> known_hip_architectures() {
    std::vector<std::string> out;
    for (const Known& k : known) {
        out.emplace_back(k.arch);
    }
    return out;
}

std::optional<DeviceInfo> known_hip_device(const std::string& arch) {
    for (const Known& k : known) {
        if (arch == k.arch) {
            DeviceInfo info;
            info.backend = Backend::hip;
            info.name = k.name;
            info.arch = k.arch;
            info.warp_size = k.warp_size;
            info.compute_units = k.compute_units;
            info.max_threads_per_program = 1024;
            info.shared_bytes_per_program = 64 << 10;
            info.cache_bytes = k.cache_mib << 20;
            info.memory_bytes = k.memory_gib << 30;
            info.has_async_copy = false;
            return info;
        }
    }
    return std::nullopt;
}

std::string why_no_hip_device() {
    return fmt::format("AMD GPUs are planned and compiled for, not measured yet: plan --arch {}",
                       fmt::join(known_hip_architectures(), "|"));
}

BackendTraits hip_traits() {
    return {Backend::hip, gpu::gpu_inert_axes(Backend::hip), gpu::gpu_limits(), false, false};
}

}  // namespace normtune::hip
