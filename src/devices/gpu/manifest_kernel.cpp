#include "devices/gpu/manifest_kernel.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune::gpu {
namespace {

std::string code_of(const LaunchManifest& manifest) {
    try {
        return read_code(manifest);
    } catch (const InputError& error) {
        throw DeviceError(DeviceFault::compile_failed, error.what());
    }
}

/// Code that was compiled elsewhere: its hash is that of code that the pool compiles.
std::shared_ptr<const CompilePool::Result> as_compiled(const std::string& image) {
    auto result = std::make_shared<CompilePool::Result>();
    result->code.image.resize(image.size());
    std::memcpy(result->code.image.data(), image.data(), image.size());
    result->code_hash = code_hash(result->code);
    return result;
}

}  // namespace

namespace {

/// A launch in clusters is for sm_90 and later.
bool has_clusters(const DeviceInfo& device) {
    return device.backend == Backend::cuda && device.arch.starts_with("sm_") && std::atoi(device.arch.c_str() + 3) >= 90;
}

/// An ELF names its kernels; in a cubin each has a section of its own. Of other forms (bundles, PTX) the driver says it.
void require_kernels(const LaunchManifest& manifest, const std::vector<std::byte>& image, const DeviceInfo& device) {
    const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
    if (!text.starts_with("\x7f"
                          "ELF")) {
        return;
    }
    for (const Launch& launch : manifest.plan.launches) {
        const std::string name = (device.backend == Backend::cuda ? ".text." : "") + launch.kernel + '\0';
        if (text.find(name) == std::string_view::npos) {
            throw DeviceError(
                DeviceFault::compile_failed,
                fmt::format("its code has no kernel '{}', which launch.json names; extern \"C\" keeps a name as it is", launch.kernel));
        }
    }
}

std::vector<std::string> options_of(const LaunchManifest& manifest, const Toolchain& toolchain) {
    std::vector<std::string> out = compiler_options(manifest.options);
    const bool has_standard = std::any_of(out.begin(), out.end(), [](const std::string& option) { return option.starts_with("-std="); });
    out.insert(out.end(), has_standard ? toolchain.options.end() : toolchain.options.begin(), toolchain.options.end());
    for (const std::string& folder : toolchain.header_folders) {
        out.push_back("-I" + folder);
    }
    return out;
}

}  // namespace

void compile_manifest_ahead(const LaunchManifest& manifest, const Toolchain& toolchain, const DeviceInfo& device) {
    if (manifest.is_source() && manifest.arch == device.arch) {
        try {
            toolchain.pool->ahead(options_of(manifest, toolchain), SourceText(read_code(manifest), manifest.code_file));
        } catch (const InputError&) {
            // Its trial says so.
        }
    }
}

LoadableKernel load_manifest(const LaunchManifest& manifest, const Toolchain& toolchain, const DeviceInfo& device) {
    if (manifest.arch != device.arch) {
        throw DeviceError(DeviceFault::unsupported, fmt::format("its code is for {}, the device is {}", manifest.arch, device.arch));
    }
    for (const Launch& launch : manifest.plan.launches) {
        if (launch.in_clusters() && !has_clusters(device)) {
            throw DeviceError(DeviceFault::unsupported,
                              fmt::format("{} is launched in clusters, which are for sm_90 and later", launch.kernel));
        }
        if (launch.shared_bytes > device.shared_bytes_per_program || launch.threads() > device.max_threads_per_program) {
            throw DeviceError(
                DeviceFault::unsupported,
                fmt::format("{} needs {} threads and {} bytes of shared memory, a program has at most {} and {}", launch.kernel,
                            launch.threads(), launch.shared_bytes, device.max_threads_per_program, device.shared_bytes_per_program));
        }
    }
    LoadableKernel out{nullptr, manifest.plan, {}};
    const std::string code = code_of(manifest);
    if (manifest.is_source()) {
        out.compiled = toolchain.pool->get(options_of(manifest, toolchain), SourceText(code, manifest.code_file));
        require_kernels(manifest, out.compiled->code.image, device);
        out.info = toolchain.compile_info(*out.compiled, out.plan, device);
        return out;
    }
    out.compiled = as_compiled(code);
    require_kernels(manifest, out.compiled->code.image, device);
    out.info = common_info(*out.compiled, out.plan);
    out.info.spill_bytes.reset();
    if (!manifest.code.hash.empty()) {
        out.info.registers = manifest.code.registers;
        out.info.spill_bytes = manifest.code.spill_bytes;
        out.info.shared_bytes = manifest.code.shared_bytes;
        if (manifest.code.occupancy > 0) {
            out.info.occupancy = manifest.code.occupancy;
        }
    }
    return out;
}

}  // namespace normtune::gpu
