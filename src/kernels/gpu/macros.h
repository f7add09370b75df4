// A configuration of a problem as the macros that the GPU source is compiled with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"
#include "space/configuration.h"
#include "space/device_info.h"

namespace normtune::gpu {

struct Macro {
    std::string name;  // always "NT_…": a shorter one can break a compiler's own headers
    std::string value;
};

/// Everything that the compiled code depends on, and nothing else: two problems with equal macros share their code.
/// M is part of it only where rows_binding is constexpr and the grid persistent_contiguous. The configuration must be
/// expressible (limits.h).
std::vector<Macro> macros(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// "-DNAME=VALUE", one option a macro.
std::vector<std::string> define_options(const std::vector<Macro>& macros);

/// The kernels' source: the names of the macros' values ("#define NT_RESIDENCY_registers 0", from the table of axes), then all
/// parts in order. Compile as C++17; no header is needed.
std::string_view source();

/// The source with its macros written at its head: compiles by itself.
std::string self_contained_source(const std::vector<Macro>& macros);

}  // namespace normtune::gpu
