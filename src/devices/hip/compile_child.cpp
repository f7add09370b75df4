#include "devices/hip/compile_child.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "devices/device.h"
#include "devices/gpu/rtc.h"
#include "devices/hip/code_object.h"
#include "support/atomic_file.h"
#include "support/child_process.h"
#include "support/descriptor.h"
#include "support/error.h"

namespace normtune::hip {
namespace {

// A configuration takes a second or two; a compiler that hangs is ended.
constexpr std::chrono::seconds compile_limit{120};

}  // namespace

CompileFolder::CompileFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "normtune-compile-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw SystemError(fmt::format("{}: no folder can be made: {}", name, system_reason(errno)));
    }
    path_ = name;
}

CompileFolder::~CompileFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string CompileFolder::path(std::string_view name) const {
    return fmt::format("{}/{}", path_, name);
}

void write_whole_file(const std::string& path, std::string_view contents) {
    std::ofstream file(path, std::ios::binary);
    file << contents << std::flush;
    if (!file) {
        throw SystemError(fmt::format("{}: cannot be written: {}", path, system_reason(errno)));
    }
}

std::string named_source(const SourceText& source) {
    if (source.file().empty()) {
        return source.text();
    }
    std::string quoted;
    for (const char c : source.file()) {
        quoted += c == '"' || c == '\\' ? "\\" : "";
        quoted += c;
    }
    return fmt::format("#line 1 \"{}\"\n{}", quoted, source.text());
}

CompiledCode compile_in_child(const std::vector<std::string>& words, const CompileFolder& folder, const CompileJob& job) {
    const auto start = std::chrono::steady_clock::now();
    const ChildEnd end = run_child(words, folder.path("log"), compile_limit);
    CompiledCode code;
    std::error_code none;
    if (std::filesystem::file_size(folder.path("log"), none) > 0 && !none) {
        code.log = read_file(folder.path("log"));
    }
    if (end.signal != 0 || end.timed_out) {
        throw DeviceError(DeviceFault::compile_failed,
                          fmt::format("{} for {}: the compiler's process ended with {}", job.compiler, job.arch, end.description()));
    }
    if (end.status != 0) {
        const std::string error = gpu::first_error(code.log);
        throw DeviceError(
            DeviceFault::compile_failed,
            fmt::format(
                "{} for {}: {}", job.compiler, job.arch,
                error.empty() ? fmt::format("the compiler's process ended with {} and printed nothing", end.description()) : error));
    }
    const std::string image = read_file(folder.path("code"));
    code.image.resize(image.size());
    std::memcpy(code.image.data(), image.data(), image.size());
    try {
        for (const KernelFigures& kernel : kernel_figures(code.image)) {
            code.registers = std::max(code.registers, kernel.vector_registers);
            code.spill_bytes = std::max(code.spill_bytes, kernel.scratch_bytes);
            code.shared_bytes = std::max(code.shared_bytes, kernel.shared_bytes);
        }
    } catch (const InputError& error) {
        throw DeviceError(DeviceFault::compile_failed, fmt::format("{} for {}: {}", job.compiler, job.arch, error.what()));
    }
    code.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return code;
}

}  // namespace normtune::hip
