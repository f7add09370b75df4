#include "run/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "devices/registry.h"
#include "support/clock.h"
#include "support/utf8.h"
#include "support/version.h"

namespace normtune {

std::string operating_system() {
    std::string pretty;
    std::ifstream release("/etc/os-release");
    constexpr std::string_view key = "PRETTY_NAME=";
    for (std::string line; std::getline(release, line);) {
        if (line.starts_with(key)) {
            pretty = line.substr(key.size());
            std::erase(pretty, '"');
        }
    }
    utsname kernel{};
    if (uname(&kernel) == 0) {
        pretty += (pretty.empty() ? "" : ", ") + std::string(kernel.sysname) + " " + kernel.release;
    }
    return to_utf8(pretty);
}

Environment describe_environment(const DeviceInfo& device, std::uint64_t seed) {
    Environment environment;
    environment.normtune_version = version();
    environment.source_revision = source_revision();
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0) {
        environment.hostname = to_utf8(name.data());
    }
    environment.os = operating_system();
    environment.device = device;
    environment.started = utc_timestamp();
    environment.seed = seed;
    environment.compiler = to_utf8(kernels_compiler(device));
    return environment;
}

}  // namespace normtune
