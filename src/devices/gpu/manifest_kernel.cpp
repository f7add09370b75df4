#include "devices/gpu/manifest_kernel.h"

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

LoadableKernel load_manifest(const LaunchManifest& manifest, const Toolchain& toolchain, const DeviceInfo& device) {
    if (manifest.arch != device.arch) {
        throw DeviceError(DeviceFault::unsupported, fmt::format("its code is for {}, the device is {}", manifest.arch, device.arch));
    }
    for (const Launch& launch : manifest.plan.launches) {
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
        out.compiled = toolchain.pool->get(toolchain.options, SourceText(code));
        out.info = toolchain.compile_info(*out.compiled, out.plan, device);
        return out;
    }
    out.compiled = as_compiled(code);
    out.info = common_info(*out.compiled, out.plan);
    out.info.spill_bytes.reset();
    if (!manifest.code.hash.empty()) {
        out.info.registers = manifest.code.registers;
        out.info.spill_bytes = manifest.code.spill_bytes;
        out.info.shared_bytes = manifest.code.shared_bytes;
    }
    return out;
}

}  // namespace normtune::gpu
