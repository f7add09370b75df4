#include "devices/cuda/nvrtc.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "devices/device.h"
#include "devices/gpu/rtc.h"
#include "support/dynamic_library.h"

namespace normtune::cuda {

namespace {

/// What hiprtc has not.
struct Nvrtc {
    int (*architecture_count)(int*);
    int (*architectures)(int*);
};
constexpr Symbol<Nvrtc> nvrtc_functions[] = {
    symbol<&Nvrtc::architecture_count>("nvrtcGetNumSupportedArchs"),
    symbol<&Nvrtc::architectures>("nvrtcGetSupportedArchs"),
};

struct LoadedNvrtc {
    gpu::Rtc api{};
    std::string version;
    std::string why_not;
    std::vector<int> architectures;
    std::string path;
    std::pair<int, int> number;
};

std::vector<std::string> candidates() {
    const std::array<std::string, 4> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
    std::vector<std::string> out = library_candidates(names, {"CUDA_HOME", "CUDA_PATH"}, "lib64", "/usr/local/cuda/lib64");
    const std::vector<std::string> pip = pip_installed_libraries("libnvrtc.so.*");
    out.insert(out.end(), pip.begin(), pip.end());
    return out;
}

LoadedNvrtc load_nvrtc() {
    LoadedNvrtc loaded;
    const DynamicLibrary library(candidates());
    if (!library.is_open()) {
        loaded.why_not =
            fmt::format("no NVRTC: {}; install the CUDA toolkit, or 'pip install nvidia-cuda-nvrtc', or set CUDA_HOME", library.why_not());
        return loaded;
    }
    Nvrtc own{};
    std::string missing = gpu::load_rtc(library, "nvrtc", "CUBIN", loaded.api);
    library.load(own, nvrtc_functions, missing);
    int major = 0;
    int minor = 0;
    if (!missing.empty() || loaded.api.version(&major, &minor) != 0) {
        loaded.why_not = fmt::format("{} is too old: it has no {}; NVRTC 11.2 or newer is needed", library.path(), missing);
        return loaded;
    }
    loaded.version = fmt::format("{}.{}", major, minor);
    loaded.path = library.path();
    loaded.number = {major, minor};
    int count = 0;
    if (own.architecture_count(&count) == 0 && count > 0) {
        loaded.architectures.resize(static_cast<std::size_t>(count));
        own.architectures(loaded.architectures.data());
    }
    return loaded;
}

const LoadedNvrtc& nvrtc() {
    static const LoadedNvrtc loaded = load_nvrtc();
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

}  // namespace

std::string nvrtc_version(std::string& why_not) {
    why_not = nvrtc().why_not;
    return nvrtc().version;
}

std::string nvrtc_name() {
    return fmt::format("NVRTC {}", nvrtc().version);
}

bool nvrtc_knows_minimal() {
    return nvrtc().number >= std::pair(12, 4);
}

std::vector<int> nvrtc_architectures() {
    return nvrtc().architectures;
}

std::vector<std::string> nvrtc_header_folders() {
    // Beside the library, as toolkits and pip lay them out; a library that was found by its soname alone has no folder.
    const std::filesystem::path library = std::filesystem::path(nvrtc().path).parent_path();
    std::vector<std::filesystem::path> places;
    if (!library.empty()) {
        places = {library / "../include", library / "../../cuda_runtime/include"};
    }
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* home = std::getenv(variable); home != nullptr) {
            places.push_back(std::filesystem::path(home) / "include");
        }
    }
    places.emplace_back("/usr/local/cuda/include");
    std::vector<std::string> out;
    for (const std::filesystem::path& place : places) {
        std::error_code none;
        if (std::filesystem::exists(place / "cuda_bf16.h", none)) {
            out.push_back(place.lexically_normal().string());
            if (std::filesystem::exists(place / "cccl", none)) {
                out.push_back((place / "cccl").lexically_normal().string());
            }
            break;
        }
    }
    return out;
}

CompiledCode nvrtc_compile(const CompileJob& job) {
    const LoadedNvrtc& loaded = nvrtc();
    if (loaded.version.empty()) {
        throw DeviceError(DeviceFault::unsupported, loaded.why_not);
    }
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::string> options = job.options;
    options.push_back("--gpu-architecture=" + job.arch);
    options.push_back("--ptxas-options=-v");
    if (loaded.number >= std::pair(12, 9)) {  // it keeps machine code itself, and then says nothing of registers and spills
        options.push_back("--no-cache");
    }
    const char* const file = job.source.file().empty() ? "normtune.cu" : job.source.file().c_str();
    gpu::RtcResult compiled = gpu::compile(loaded.api, job.source.text(), file, options);
    if (!compiled.error.empty() || compiled.code.empty()) {
        const std::string what = compiled.error.empty() ? fmt::format("no machine code for {}", job.arch) : compiled.error;
        throw DeviceError(DeviceFault::compile_failed,
                          fmt::format("NVRTC {}: {}: {}", loaded.version, what, gpu::first_error(compiled.log)));
    }
    CompiledCode code;
    code.image = std::move(compiled.code);
    code.log = std::move(compiled.log);
    code.registers = number_before(code.log, " registers");
    code.spill_bytes = std::max(number_before(code.log, " bytes spill stores"), number_before(code.log, " bytes spill loads"));
    code.shared_bytes = number_before(code.log, " bytes smem");
    code.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return code;
}

}  // namespace normtune::cuda
