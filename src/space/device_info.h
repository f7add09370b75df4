// What planning, rules and records know of a device: plain data, no handle.
#pragma once

#include <cstdint>
#include <string>

#include "support/names.h"

namespace normtune {

enum class Backend { cuda, hip, cpu, replay };
inline constexpr NameTable<Backend, 4> backend_names{{"cuda", "hip", "cpu", "replay"}};

struct DeviceInfo {
    Backend backend = Backend::cpu;
    std::string name;    // "NVIDIA H100 80GB HBM3", or the processor's model name
    std::string arch;    // "sm_90", "gfx942", "x86-64-avx512", …
    std::string driver;  // driver version; the kernel release on a CPU
    int ordinal = 0;
    std::string id;         // tells devices of one name apart, whatever their ordinals: a GPU's PCI address
    std::string uuid;       // a GPU's own, wherever it is plugged in: "GPU-" and what the driver tells; empty: not told
    int warp_size = 32;     // a CPU's is the fp32 lanes of its widest vector in use
    int compute_units = 1;  // SMs, CUs, cores
    int max_threads_per_program = 1024;
    int threads_per_compute_unit = 2048;        // resident at once; 1 on a CPU
    std::int64_t shared_bytes_per_program = 0;  // a CPU's is its L1 data cache
    std::int64_t cache_bytes = 0;               // last-level cache
    std::int64_t memory_bytes = 0;
    bool has_async_copy = false;
};

}  // namespace normtune
