#include "devices/hip/libraries.h"

#include <cstdlib>

#include <fmt/format.h>

namespace normtune::hip {

std::vector<std::string> rocm_libraries(std::span<const std::string_view> stems) {
    std::vector<std::string> names;
    for (const std::string_view stem : stems) {
        for (const char* version : {".so.7", ".so.6", ".so.5", ".so"}) {
            names.push_back(fmt::format("{}{}", stem, version));
        }
    }
    std::vector<std::string> out;
    for (const char* variable : {"ROCM_PATH", "HIP_PATH"}) {
        if (const char* home = std::getenv(variable)) {
            for (const std::string& name : names) {
                out.push_back(fmt::format("{}/lib/{}", home, name));
            }
        }
    }
    out.insert(out.end(), names.begin(), names.end());
    for (const std::string& name : names) {
        out.push_back(fmt::format("/opt/rocm/lib/{}", name));
    }
    return out;
}

}  // namespace normtune::hip
