#include "devices/gpu/driver.h"

#include <array>

#include <fmt/format.h>

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

int attribute(const Driver& driver, Attribute name, DeviceId device) {
    int value = 0;
    check(driver, driver.device_get_attribute(&value, name, device), DeviceFault::unsupported, "asking for a device attribute");
    return value;
}

}  // namespace normtune::gpu
