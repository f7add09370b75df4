#include "devices/hip/hiprtc.h"

#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "devices/gpu/rtc.h"
#include "devices/hip/compile_child.h"
#include "devices/hip/runtime_api.h"
#include "support/atomic_file.h"
#include "support/dynamic_library.h"
#include "support/error.h"
#include "support/programs.h"

namespace normtune::hip {
namespace {

using nlohmann::json;

constexpr std::string_view child_word = "compile-hip";
constexpr int failed_status = 1;

struct LoadedHiprtc {
    gpu::Rtc api{};
    std::string name;
    std::string why_not;
};

LoadedHiprtc load_hiprtc() {
    LoadedHiprtc loaded;
    // ROCm 6 and 7 have a library of its own; in 5 it is part of HIP's run time.
    std::vector<std::string> candidates = rocm_libraries("libhiprtc");
    const std::vector<std::string> older = rocm_libraries("libamdhip64");
    candidates.insert(candidates.end(), older.begin(), older.end());
    const DynamicLibrary library(candidates);
    if (!library.is_open()) {
        loaded.why_not = fmt::format("no hiprtc: {}; install ROCm, or Debian's libamdhip64-5, or set ROCM_PATH", library.why_not());
        return loaded;
    }
    const std::string missing = gpu::load_rtc(library, "hiprtc", "Code", loaded.api);
    int major = 0;
    int minor = 0;
    if (!missing.empty() || loaded.api.version(&major, &minor) != 0) {
        loaded.why_not = fmt::format("{} has no {}; ROCm 5.2 or newer is needed", library.path(), missing);
        return loaded;
    }
    const std::size_t slash = library.path().rfind('/');
    loaded.name =
        fmt::format("hiprtc {}.{} ({})", major, minor, slash == std::string::npos ? library.path() : library.path().substr(slash + 1));
    return loaded;
}

const LoadedHiprtc& hiprtc() {
    static const LoadedHiprtc loaded = load_hiprtc();
    return loaded;
}

/// What the child does: compiles the job of a file, and writes the code object to another.
int compile_here(const std::string& job_path, const std::string& code_path) {
    const LoadedHiprtc& loaded = hiprtc();
    if (loaded.name.empty()) {
        std::fprintf(stderr, "%s\n", loaded.why_not.c_str());
        return failed_status;
    }
    const json job = json::parse(read_file(job_path));
    std::vector<std::string> options = job.at("options").get<std::vector<std::string>>();
    options.push_back("--gpu-architecture=" + job.at("arch").get<std::string>());
    const gpu::RtcResult compiled = gpu::compile(loaded.api, job.at("source").get<std::string>(), "normtune.hip", options);
    std::fputs(compiled.log.c_str(), stderr);
    if (!compiled.error.empty()) {
        std::fprintf(stderr, "\n%s\n", compiled.error.c_str());
        return failed_status;
    }
    write_whole_file(code_path, {reinterpret_cast<const char*>(compiled.code.data()), compiled.code.size()});
    return 0;
}

}  // namespace

std::string hiprtc_name(std::string& why_not) {
    why_not = hiprtc().why_not;
    return hiprtc().name;
}

std::string& hip_compiler_executable() {
    static std::string path = own_executable();
    return path;
}

CompiledCode hiprtc_compile(const CompileJob& job) {
    const CompileFolder folder;
    write_whole_file(folder.path("job"), json{{"arch", job.arch}, {"options", job.options}, {"source", named_source(job.source)}}.dump());
    return compile_in_child({hip_compiler_executable(), std::string(child_word), folder.path("job"), folder.path("code")}, folder, job);
}

std::optional<int> run_as_hip_compiler(int argc, char** argv) {
    if (argc != 4 || argv[1] != child_word) {
        return std::nullopt;
    }
    try {
        return compile_here(argv[2], argv[3]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return failed_status;
    }
}

}  // namespace normtune::hip
