#include "devices/cuda/cuda_backend.h"

#include <fmt/format.h>

#include "devices/cuda/clock_lock.h"
#include "devices/cuda/code.h"
#include "devices/cuda/driver_api.h"
#include "devices/cuda/nvml.h"
#include "devices/cuda/nvrtc.h"
#include "devices/gpu/vendor.h"

namespace normtune::cuda {
namespace {

// Multiprocessors, L2 and shared memory a block: NVIDIA's A100 (80 GB), H100 (SXM) and B200 data sheets, the RTX Blackwell white paper and
// the CUDA programming guide's table of compute capabilities.
constexpr gpu::PlannedDevice planned[] = {{"sm_80", "NVIDIA A100 (planned)", 32, 108, 2048, 163, 40, 80, true},
                                          {"sm_90", "NVIDIA H100 (planned)", 32, 132, 2048, 227, 50, 80, true},
                                          {"sm_100", "NVIDIA B200 (planned)", 32, 148, 2048, 227, 126, 180, true},
                                          {"sm_120", "NVIDIA RTX 5090 (planned)", 32, 170, 1536, 99, 96, 32, true}};

void complete(gpu::DeviceId device, DeviceInfo& info) {
    std::string why_not;
    const std::string version = nvml_driver_version(why_not);
    info.driver = fmt::format("{}{}CUDA {}", version, version.empty() ? "" : ", ", cuda_version());
    info.arch = architecture_of(device);
    info.has_async_copy = info.arch != "sm_70" && info.arch != "sm_72" && info.arch != "sm_75";
}

std::string no_compiler() {
    std::string why_not;
    return nvrtc_version(why_not).empty() ? "there is " + why_not : "";
}

}  // namespace

BackendRow backend() {
    BackendRow row = gpu::backend_row({.backend = Backend::cuda,
                                       .load = load_driver,
                                       .sees_no_device = "the NVIDIA driver sees no device; look at CUDA_VISIBLE_DEVICES and nvidia-smi",
                                       .complete = complete,
                                       .no_compiler = no_compiler,
                                       .toolchain = toolchain,
                                       .clocks = read_clocks,
                                       .planned = planned});
    row.run_as_child = run_as_clock_keeper;
    row.lock_clock = [](const DeviceInfo& device, int mhz) { return std::make_shared<ClockLock>("/proc/self/exe", device.id, mhz); };
    return row;
}

}  // namespace normtune::cuda
