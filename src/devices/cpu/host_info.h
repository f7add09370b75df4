// What the operating system says of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace normtune::cpu {

struct HostInfo {
    std::string name;  // the processor's model name
    std::string kernel_release;
    std::vector<int> cpus;  // one logical processor a core, of those that this process may use
    std::int64_t l1_data_bytes = 0;
    std::int64_t last_level_bytes = 0;
    std::int64_t memory_bytes = 0;
};

/// Never fails: what the system does not tell gets a cautious default (L1 32 KiB, last level 32 MiB).
HostInfo read_host_info();

/// Memory that can be taken without swapping; 0: unknown.
std::int64_t available_memory_bytes();

/// Bytes of a cache size as sysfs writes it: "48K", "2048K", "1M"; 0 where it is none.
std::int64_t parse_cache_size(const std::string& text);

}  // namespace normtune::cpu
