#include "devices/cuda/nvrtc.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "devices/device.h"
#include "support/dynamic_library.h"

namespace normtune::cuda {

namespace {

using Program = struct ProgramOpaque*;

struct Nvrtc {
    int (*version)(int* major, int* minor);
    int (*create)(Program*, const char* source, const char* name, int headers, const char* const* header_sources,
                  const char* const* header_names);
    int (*destroy)(Program*);
    int (*compile)(Program, int count, const char* const* options);
    int (*cubin_size)(Program, std::size_t*);
    int (*cubin)(Program, char*);
    int (*log_size)(Program, std::size_t*);
    int (*log)(Program, char*);
    const char* (*error_string)(int);
    int (*architecture_count)(int*);
    int (*architectures)(int*);
};

struct LoadedNvrtc {
    Nvrtc api{};
    std::string version;
    std::string why_not;
    std::vector<int> architectures;
    bool caches = false;  // from 12.9 on it keeps machine code itself, and then says nothing of registers and spills
};

std::vector<std::string> candidates() {
    const char* const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
    std::vector<std::string> out;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* home = std::getenv(variable)) {
            for (const char* name : names) {
                out.push_back(fmt::format("{}/lib64/{}", home, name));
            }
        }
    }
    out.insert(out.end(), std::begin(names), std::end(names));
    for (const char* name : names) {
        out.push_back(fmt::format("/usr/local/cuda/lib64/{}", name));
    }
    const std::vector<std::string> pip = pip_installed_libraries("libnvrtc.so.*");
    out.insert(out.end(), pip.begin(), pip.end());
    return out;
}

LoadedNvrtc load() {
    LoadedNvrtc loaded;
    const DynamicLibrary library(candidates());
    if (!library.is_open()) {
        loaded.why_not =
            fmt::format("no NVRTC: {}; install the CUDA toolkit, or 'pip install nvidia-cuda-nvrtc', or set CUDA_HOME", library.why_not());
        return loaded;
    }
    Nvrtc& api = loaded.api;
    std::string missing;
    library.load(api.version, "nvrtcVersion", missing);
    library.load(api.create, "nvrtcCreateProgram", missing);
    library.load(api.destroy, "nvrtcDestroyProgram", missing);
    library.load(api.compile, "nvrtcCompileProgram", missing);
    library.load(api.cubin_size, "nvrtcGetCUBINSize", missing);
    library.load(api.cubin, "nvrtcGetCUBIN", missing);
    library.load(api.log_size, "nvrtcGetProgramLogSize", missing);
    library.load(api.log, "nvrtcGetProgramLog", missing);
    library.load(api.error_string, "nvrtcGetErrorString", missing);
    library.load(api.architecture_count, "nvrtcGetNumSupportedArchs", missing);
    library.load(api.architectures, "nvrtcGetSupportedArchs", missing);
    int major = 0;
    int minor = 0;
    if (!missing.empty() || api.version(&major, &minor) != 0) {
        loaded.why_not = fmt::format("{} is too old: it has no {}; NVRTC 11.2 or newer is needed", library.path(), missing);
        return loaded;
    }
    loaded.version = fmt::format("{}.{}", major, minor);
    loaded.caches = std::pair(major, minor) >= std::pair(12, 9);
    int count = 0;
    if (api.architecture_count(&count) == 0 && count > 0) {
        loaded.architectures.resize(static_cast<std::size_t>(count));
        api.architectures(loaded.architectures.data());
    }
    return loaded;
}

const LoadedNvrtc& nvrtc() {
    static const LoadedNvrtc loaded = load();
    return loaded;
}

/// The number that stands before `what` in the compiler's log, the largest where there are several kernels.
int number_before(std::string_view log, std::string_view what) {
    int largest = 0;
    for (std::size_t at = log.find(what); at != std::string_view::npos; at = log.find(what, at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') {
            --begin;
        }
        int value = 0;
        std::from_chars(log.data() + begin, log.data() + at, value);
        largest = std::max(largest, value);
    }
    return largest;
}

std::string first_error(std::string_view log) {
    std::size_t at = log.find("error");
    if (at == std::string_view::npos) {
        at = 0;
    }
    const std::size_t begin = log.rfind('\n', at) == std::string_view::npos ? 0 : log.rfind('\n', at) + 1;
    return std::string(log.substr(begin, std::min<std::size_t>(log.find('\n', at) - begin, 300)));
}

}  // namespace

std::string nvrtc_version(std::string& why_not) {
    why_not = nvrtc().why_not;
    return nvrtc().version;
}

std::vector<int> nvrtc_architectures() {
    return nvrtc().architectures;
}

CompiledCode nvrtc_compile(const CompileJob& job) {
    const LoadedNvrtc& loaded = nvrtc();
    if (loaded.version.empty()) {
        throw DeviceError(DeviceFault::unsupported, loaded.why_not);
    }
    const Nvrtc& api = loaded.api;
    const auto start = std::chrono::steady_clock::now();
    Program program = nullptr;
    if (const int result = api.create(&program, job.source.text().c_str(), "normtune.cu", 0, nullptr, nullptr); result != 0) {
        throw DeviceError(DeviceFault::compile_failed, fmt::format("NVRTC: {}", api.error_string(result)));
    }
    const auto destroy = [&api](Program* p) { api.destroy(p); };
    const std::unique_ptr<Program, decltype(destroy)> guard(&program, destroy);

    std::vector<std::string> options = job.options;
    options.push_back("--gpu-architecture=" + job.arch);
    options.push_back("--ptxas-options=-v");
    if (loaded.caches) {
        options.push_back("--no-cache");
    }
    std::vector<const char*> pointers;
    for (const std::string& option : options) {
        pointers.push_back(option.c_str());
    }
    const int result = api.compile(program, static_cast<int>(pointers.size()), pointers.data());
    std::size_t size = 0;
    CompiledCode code;
    if (api.log_size(program, &size) == 0 && size > 1) {
        code.log.resize(size);
        api.log(program, code.log.data());
        code.log.resize(size - 1);
    }
    if (result != 0) {
        throw DeviceError(DeviceFault::compile_failed,
                          fmt::format("NVRTC {}: {}: {}", loaded.version, api.error_string(result), first_error(code.log)));
    }
    if (const int got = api.cubin_size(program, &size); got != 0 || size == 0) {
        throw DeviceError(DeviceFault::compile_failed, fmt::format("NVRTC {} gives no machine code for {}", loaded.version, job.arch));
    }
    code.image.resize(size);
    api.cubin(program, reinterpret_cast<char*>(code.image.data()));
    code.registers = number_before(code.log, " registers");
    code.spill_bytes = std::max(number_before(code.log, " bytes spill stores"), number_before(code.log, " bytes spill loads"));
    code.shared_bytes = number_before(code.log, " bytes smem");
    code.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return code;
}

}  // namespace normtune::cuda
