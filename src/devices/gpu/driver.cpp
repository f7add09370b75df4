#include "devices/gpu/driver.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "devices/gpu/owned.h"

namespace normtune::gpu {

void check(const Driver& driver, Result result, DeviceFault fault, const char* doing) {
    if (result != success) {
        throw DeviceError(result == error_out_of_memory ? DeviceFault::out_of_memory : fault,
                          fmt::format("{}: {}", doing, driver.describe(result)));
    }
}

std::string pci_address(const Driver& driver, DeviceId device) {
    std::array<char, 32> address{};
    const bool told = driver.device_get_pci_bus_id(address.data(), static_cast<int>(address.size()), device) == success;
    return told ? address.data() : "";
}

std::string device_uuid(const Driver& driver, DeviceId device) {
    std::array<unsigned char, 16> bytes{};
    if (driver.device_get_uuid == nullptr || driver.device_get_uuid(bytes.data(), device) != success) {
        return "";
    }
    std::string uuid = "GPU-";
    if (std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return std::isxdigit(byte) != 0; })) {
        return uuid.append(bytes.begin(), bytes.end());
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        uuid += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    }
    return uuid;
}

int attribute(const Driver& driver, Attribute name, DeviceId device) {
    int value = 0;
    check(driver, driver.device_get_attribute(&value, name, device), DeviceFault::unsupported, "asking for a device attribute");
    return value;
}

OwnedMemory allocate(const Driver& driver, std::int64_t bytes, const char* doing) {
    OwnedMemory memory(driver);
    // An address that an earlier launch spoilt is no lack of memory: check tells that by the code.
    check(driver, driver.memory_alloc(memory.make(), static_cast<std::size_t>(bytes)), DeviceFault::launch_failed, doing);
    return memory;
}

OwnedModule load_module(const Driver& driver, const void* image) {
    OwnedModule module(driver);
    check(driver, driver.module_load_data(module.make(), image), DeviceFault::compile_failed, "loading a kernel");
    return module;
}

Function function_of(const Driver& driver, const OwnedModule& module, const char* name) {
    Function function = nullptr;
    check(driver, driver.module_get_function(&function, module.get(), name), DeviceFault::compile_failed, name);
    return function;
}

}  // namespace normtune::gpu
