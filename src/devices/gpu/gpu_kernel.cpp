#include "devices/gpu/gpu_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "devices/gpu/toolchain.h"

namespace normtune::gpu {

namespace {

/// One kernel's arguments, packed as the driver takes them: a pointer to each value.
struct PackedArguments {
    std::array<std::uint64_t, most_arguments> values{};
    std::array<void*, most_arguments> pointers{};
};

LaunchShape shape_of(const Launch& launch) {
    const auto three = [](const auto& of) {
        return std::array{static_cast<unsigned>(of.at(0)), static_cast<unsigned>(of.at(1)), static_cast<unsigned>(of.at(2))};
    };
    return {three(launch.grid),    three(launch.block), static_cast<unsigned>(launch.shared_bytes),
            three(launch.cluster), launch.cooperative,  launch.overlaps};
}

}  // namespace

GpuKernel::GpuKernel(const Driver& driver, const void* image, LaunchPlan plan, CompileInfo info, const DeviceInfo& device, DeviceId id)
    : RotatingKernel(driver),
      module_(load_module(driver, image)),
      info_(std::move(info)),
      main_kernel_(main_launch(plan).kernel),
      workspace_bytes_(plan.workspace_bytes) {
    for (Launch& launch : plan.launches) {
        const Function function = function_of(driver_, module_, launch.kernel.c_str());
        if (launch.shared_bytes > std::int64_t{48} << 10) {
            check(driver_, driver_.function_allow_shared(function, launch.shared_bytes), DeviceFault::launch_failed,
                  "asking for shared memory");
        }
        steps_.push_back({function, std::move(launch)});
    }
    check_occupancy(device, id);
}

void GpuKernel::check_occupancy(const DeviceInfo& device, DeviceId id) {
    const int most_threads = attribute(driver_, Attribute::threads_per_compute_unit, id);
    for (const Step& step : steps_) {
        const Launch& launch = step.launch;
        int programs = 0;
        check(driver_, driver_.occupancy_blocks(&programs, step.function, launch.threads(), static_cast<std::size_t>(launch.shared_bytes)),
              DeviceFault::launch_failed, "asking for the occupancy");
        if (programs == 0) {
            throw DeviceError(DeviceFault::unsupported, fmt::format("not even one program of {} fits on a compute unit", launch.kernel));
        }
        std::int64_t resident = std::int64_t{programs} * device.compute_units;
        if (launch.in_clusters() && driver_.occupancy_clusters != nullptr) {
            int clusters = 0;
            const Result asked = driver_.occupancy_clusters(&clusters, step.function, shape_of(launch));
            if (asked != success || clusters == 0) {
                throw DeviceError(
                    DeviceFault::unsupported,
                    fmt::format("not even one cluster of {} programs of {} finds a place on the device{}", fmt::join(launch.cluster, "x"),
                                launch.kernel, asked == success ? "" : ": " + driver_.describe(asked)));
            }
            resident = std::int64_t{clusters} * launch.cluster_programs();
        }
        if (launch.cooperative && launch.programs() > resident) {
            throw DeviceError(DeviceFault::unsupported,
                              fmt::format("a cooperative launch needs all its {} programs resident at once; registers "
                                          "and shared memory leave room for {}",
                                          launch.programs(), resident));
        }
        if (launch.kernel == main_kernel_) {
            info_.occupancy = static_cast<double>(programs * launch.threads()) / std::max(1, most_threads);
        }
    }
}

void GpuKernel::launch(const Step& step, const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const {
    PackedArguments packed;
    for (std::size_t i = 0; i < step.launch.arguments.size(); ++i) {
        const Argument& argument = step.launch.arguments[i];
        std::uint64_t& value = packed.values.at(i);
        switch (argument.source) {
            case Argument::Source::tensor:
                value = buffers.pointer(argument.tensor, set);
                break;
            case Argument::Source::workspace:
                value = workspace + static_cast<std::uint64_t>(argument.integer);
                break;
            case Argument::Source::null:
                break;
            case Argument::Source::value:
                if (argument.type == ArgumentType::fp32) {
                    std::memcpy(&value, &argument.real, sizeof argument.real);
                } else {
                    std::memcpy(&value, &argument.integer, sizeof argument.integer);  // little-endian: an int32 is its start
                }
        }
        packed.pointers.at(i) = &value;
    }
    check(driver_, driver_.launch_kernel(step.function, shape_of(step.launch), packed.pointers.data(), stream), DeviceFault::launch_failed,
          "launching a kernel");
}

void GpuKernel::launch(const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const {
    for (const Step& step : steps_) {
        launch(step, buffers, set, workspace, stream);
    }
}

void launch_plain(const Driver& driver, Function function, std::int64_t grid, int block, void** arguments, Stream stream, bool overlaps,
                  int shared_bytes) {
    const LaunchShape shape{{static_cast<unsigned>(grid), 1, 1},
                            {static_cast<unsigned>(block), 1, 1},
                            static_cast<unsigned>(shared_bytes),
                            {1, 1, 1},
                            false,
                            overlaps};
    check(driver, driver.launch_kernel(function, shape, arguments, stream), DeviceFault::launch_failed, "launching a kernel");
}

}  // namespace normtune::gpu
