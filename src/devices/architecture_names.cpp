#include "devices/architecture_names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace normtune {
namespace {

struct NamedArchitecture {
    std::string_view arch;
    std::string_view name;
};

// NVIDIA's list of CUDA GPUs by compute capability, and the GPU tables of ROCm's documentation.
constexpr std::array named{
    NamedArchitecture{"sm_60", "Pascal (P100)"},
    NamedArchitecture{"sm_61", "Pascal (P40, GTX 1080)"},
    NamedArchitecture{"sm_70", "Volta (V100)"},
    NamedArchitecture{"sm_75", "Turing (T4, RTX 2080)"},
    NamedArchitecture{"sm_80", "Ampere (A100)"},
    NamedArchitecture{"sm_86", "Ampere (A10, A40, RTX 3090)"},
    NamedArchitecture{"sm_87", "Ampere (Jetson Orin)"},
    NamedArchitecture{"sm_89", "Ada (L4, L40S, RTX 4090)"},
    NamedArchitecture{"sm_90", "Hopper (H100, H200)"},
    NamedArchitecture{"sm_100", "Blackwell (B200)"},
    NamedArchitecture{"sm_103", "Blackwell Ultra (B300)"},
    NamedArchitecture{"sm_120", "Blackwell (RTX 5090, RTX PRO 6000)"},
    NamedArchitecture{"sm_121", "Blackwell (GB10, DGX Spark)"},
    NamedArchitecture{"gfx900", "Vega (MI25)"},
    NamedArchitecture{"gfx906", "Vega (MI50, MI60)"},
    NamedArchitecture{"gfx908", "CDNA (MI100)"},
    NamedArchitecture{"gfx90a", "CDNA 2 (MI210, MI250)"},
    NamedArchitecture{"gfx942", "CDNA 3 (MI300)"},
    NamedArchitecture{"gfx950", "CDNA 4 (MI350X, MI355X)"},
    NamedArchitecture{"gfx1030", "RDNA 2 (RX 6900 XT)"},
    NamedArchitecture{"gfx1100", "RDNA 3 (RX 7900 XTX)"},
    NamedArchitecture{"gfx1101", "RDNA 3 (RX 7800 XT)"},
    NamedArchitecture{"gfx1102", "RDNA 3 (RX 7600)"},
    NamedArchitecture{"gfx1200", "RDNA 4 (RX 9060 XT)"},
    NamedArchitecture{"gfx1201", "RDNA 4 (RX 9070 XT)"},
};

}  // namespace

std::string what_architecture_is(std::string_view arch) {
    const auto* const found = std::find_if(named.begin(), named.end(), [&](const NamedArchitecture& row) { return row.arch == arch; });
    return found == named.end() ? std::string() : fmt::format("{} is {}", found->arch, found->name);
}

}  // namespace normtune
