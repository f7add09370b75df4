#include "devices/gpu/vendor.h"

#include <array>

#include <fmt/format.h>

#include "devices/gpu/gpu_device.h"
#include "devices/gpu/planted_faults.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"

namespace normtune::gpu {
namespace {

DeviceInfo read_info(const Vendor& vendor, const Driver& driver, int ordinal) {
    DeviceId device = 0;
    check(driver, driver.device_get(&device, ordinal), DeviceFault::unsupported, "opening the device");
    DeviceInfo info;
    info.backend = vendor.backend;
    info.ordinal = ordinal;
    info.id = pci_address(driver, device);
    info.uuid = device_uuid(driver, device);
    std::array<char, 256> name{};
    driver.device_get_name(name.data(), static_cast<int>(name.size()), device);
    info.name = name.data();
    info.warp_size = attribute(driver, Attribute::warp_size, device);
    info.compute_units = attribute(driver, Attribute::compute_units, device);
    info.max_threads_per_program = attribute(driver, Attribute::max_threads_per_program, device);
    info.threads_per_compute_unit = attribute(driver, Attribute::threads_per_compute_unit, device);
    info.shared_bytes_per_program = attribute(driver, Attribute::shared_bytes_per_program, device);
    info.cache_bytes = attribute(driver, Attribute::cache_bytes, device);
    std::size_t memory = 0;
    driver.device_total_memory(&memory, device);
    info.memory_bytes = static_cast<std::int64_t>(memory);
    vendor.complete(device, info);
    return info;
}

std::vector<DeviceReport> find(const Vendor& vendor) {
    std::string why_not;
    const Driver* driver = vendor.load(why_not);
    if (driver == nullptr) {
        return {{vendor.backend, std::nullopt, why_not}};
    }
    int count = 0;
    if (driver->device_get_count(&count) != success || count == 0) {
        return {{vendor.backend, std::nullopt, vendor.sees_no_device}};
    }
    std::vector<DeviceReport> reports;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        DeviceReport report{vendor.backend, std::nullopt, {}};
        try {
            report.info = read_info(vendor, *driver, ordinal);
            if (const std::string missing = vendor.no_compiler(); !missing.empty()) {
                report.why_not = fmt::format("{} is here, but {}", report.info->name, missing);
                report.info.reset();
            }
        } catch (const DeviceError& error) {
            report.why_not = error.what();
        }
        reports.push_back(std::move(report));
    }
    return reports;
}

DeviceInfo planned_info(Backend backend, const PlannedDevice& planned) {
    DeviceInfo info;
    info.backend = backend;
    info.name = planned.name;
    info.arch = planned.arch;
    info.warp_size = planned.warp_size;
    info.compute_units = planned.compute_units;
    info.threads_per_compute_unit = planned.threads_per_unit;
    info.shared_bytes_per_program = planned.shared_kib << 10;
    info.cache_bytes = planned.cache_mib << 20;
    info.memory_bytes = planned.memory_gib << 30;
    info.has_async_copy = planned.has_async_copy;
    return info;
}

std::unique_ptr<Device> open(const Vendor& vendor, int ordinal) {
    DeviceInfo info = described(find(vendor), vendor.backend, ordinal);
    std::string why_not;
    const Driver& driver = *vendor.load(why_not);
    Toolchain tools = vendor.toolchain(info.arch);
    const PlantedFaults faults = PlantedFaults::from_environment();
    const auto faulty_code = faults.empty() ? nullptr : tools.pool->get(tools.options, planted_source());
    auto device = open_device({driver, std::move(info), std::move(tools), vendor.clocks});
    return faults.empty() ? std::move(device) : plant(std::move(device), driver, faulty_code->code.image.data(), faults);
}

std::string kernels_text(const DeviceInfo& device, Toolchain toolchain) {
    return offline_compiler(device, std::move(toolchain))->name() + "\n" + std::string(source());
}

}  // namespace

BackendRow backend_row(const Vendor& vendor) {
    BackendRow row{
        .backend = vendor.backend,
        .traits = {},
        .find = [vendor](const std::string&) { return find(vendor); },
        .describe = [vendor](int ordinal, const std::string&) { return described(find(vendor), vendor.backend, ordinal); },
        .open = [vendor](int ordinal, const std::string&) { return open(vendor, ordinal); },
        .kernels = [vendor](const DeviceInfo& device, const std::string&) { return kernels_text(device, vendor.toolchain(device.arch)); },
        .compiler = [vendor](const DeviceInfo& device) { return offline_compiler(device, vendor.toolchain(device.arch)); },
        .warning = planted_faults_warning};
    row.traits = [backend = vendor.backend] { return BackendTraits{backend, inert_axes(backend), gpu_limits(), false, false}; };
    for (const PlannedDevice& planned : vendor.planned) {
        row.planned.push_back(planned_info(vendor.backend, planned));
    }
    return row;
}

}  // namespace normtune::gpu
