#include "devices/cpu/host_info.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <utility>

#include "support/cores.h"

namespace normtune::cpu {

namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// The value of "key : value" in a /proc file; empty where there is none.
std::string proc_value(const std::string& path, const std::string& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) {
            continue;
        }
        const std::size_t start = line.find_first_not_of(" \t", colon + 1);
        return start == std::string::npos ? "" : line.substr(start);
    }
    return "";
}

/// The logical processors that this process may run on, one for each core: two threads of a core share its way to
/// memory.
std::vector<int> allowed_cores() {
    std::vector<int> cpus;
    std::set<std::pair<std::string, std::string>> seen;
    for (const int cpu : allowed_processors()) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
        const std::string core = first_line(folder + "core_id");
        if (core.empty() || seen.emplace(first_line(folder + "physical_package_id"), core).second) {
            cpus.push_back(cpu);
        }
    }
    const int quota = quota_processors();
    if (quota > 0 && std::cmp_less(quota, cpus.size())) {
        cpus.resize(static_cast<std::size_t>(quota));
    }
    return cpus;
}

}  // namespace

std::int64_t parse_cache_size(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value <= 0 || value > (std::int64_t{1} << 52)) {
        return 0;
    }
    const char unit = end == text.data() + text.size() ? ' ' : *end;
    return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : unit == 'G' ? value << 30 : value;
}

HostInfo read_host_info() {
    HostInfo host;
    host.name = proc_value("/proc/cpuinfo", "model name");
    if (host.name.empty()) {
        host.name = proc_value("/proc/cpuinfo", "Processor");
    }
    utsname system{};
    if (uname(&system) == 0) {
        host.kernel_release = system.release;
    }
    if (host.name.empty()) {
        host.name = fmt::format("{} processor", system.machine[0] != '\0' ? system.machine : "unknown");
    }
    host.cpus = allowed_cores();
    host.l1_data_bytes = 32 << 10;
    int last_level = 0;
    for (int index = 0; index < 16; ++index) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", host.cpus.front(), index);
        const std::int64_t bytes = parse_cache_size(first_line(folder + "size"));
        const std::string type = first_line(folder + "type");
        if (bytes == 0 || type == "Instruction") {
            continue;
        }
        const auto level = static_cast<int>(parse_cache_size(first_line(folder + "level")));
        if (level == 1) {
            host.l1_data_bytes = bytes;
        }
        if (level >= last_level) {
            last_level = level;
            host.last_level_bytes = bytes;
        }
    }
    if (host.last_level_bytes == 0) {
        host.last_level_bytes = 32 << 20;
    }
    host.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    return host;
}

std::int64_t available_memory_bytes() {
    const std::int64_t machine = parse_cache_size(proc_value("/proc/meminfo", "MemAvailable")) << 10;
    const std::int64_t limit = parse_cache_size(first_line("/sys/fs/cgroup/memory.max"));  // "max": no limit
    if (limit == 0) {
        return machine;
    }
    const std::int64_t free = std::max<std::int64_t>(1, limit - parse_cache_size(first_line("/sys/fs/cgroup/memory.current")));
    return machine == 0 ? free : std::min(machine, free);
}

}  // namespace normtune::cpu
