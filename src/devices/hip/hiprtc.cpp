#include "devices/hip/hiprtc.h"

#include <array>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "devices/hip/compile_child.h"
#include "devices/hip/libraries.h"
#include "support/dynamic_library.h"
#include "support/error.h"

namespace normtune::hip {
namespace {

using nlohmann::json;
using Program = struct ProgramOpaque*;

constexpr std::string_view child_word = "compile-hip";
constexpr int failed_status = 1;

struct Hiprtc {
    int (*version)(int* major, int* minor);
    int (*create)(Program*, const char* source, const char* name, int headers, const char* const* header_sources,
                  const char* const* header_names);
    int (*compile)(Program, int count, const char* const* options);
    int (*code_size)(Program, std::size_t*);
    int (*code)(Program, char*);
    int (*destroy)(Program*);
    int (*log_size)(Program, std::size_t*);
    int (*log)(Program, char*);
    const char* (*error_string)(int);
};

struct LoadedHiprtc {
    Hiprtc api{};
    std::string name;
    std::string why_not;
};

LoadedHiprtc load() {
    LoadedHiprtc loaded;
    // ROCm 6 and 7 have a library of its own; in 5 it is part of HIP's run time.
    constexpr std::array<std::string_view, 2> stems{"libhiprtc", "libamdhip64"};
    const DynamicLibrary library(rocm_libraries(stems));
    if (!library.is_open()) {
        loaded.why_not = fmt::format("no hiprtc: {}; install ROCm, or Debian's libamdhip64-5, or set ROCM_PATH", library.why_not());
        return loaded;
    }
    Hiprtc& api = loaded.api;
    std::string missing;
    library.load(api.version, "hiprtcVersion", missing);
    library.load(api.create, "hiprtcCreateProgram", missing);
    library.load(api.compile, "hiprtcCompileProgram", missing);
    library.load(api.code_size, "hiprtcGetCodeSize", missing);
    library.load(api.code, "hiprtcGetCode", missing);
    library.load(api.destroy, "hiprtcDestroyProgram", missing);
    library.load(api.log_size, "hiprtcGetProgramLogSize", missing);
    library.load(api.log, "hiprtcGetProgramLog", missing);
    library.load(api.error_string, "hiprtcGetErrorString", missing);
    int major = 0;
    int minor = 0;
    if (!missing.empty() || api.version(&major, &minor) != 0) {
        loaded.why_not = fmt::format("{} has no {}; ROCm 5.2 or newer is needed", library.path(), missing);
        return loaded;
    }
    const std::size_t slash = library.path().rfind('/');
    loaded.name =
        fmt::format("hiprtc {}.{} ({})", major, minor, slash == std::string::npos ? library.path() : library.path().substr(slash + 1));
    return loaded;
}

const LoadedHiprtc& hiprtc() {
    static const LoadedHiprtc loaded = load();
    return loaded;
}

/// What the child does: compiles the job of a file, and writes the code object to another.
int compile_here(const std::string& job_path, const std::string& code_path) {
    const LoadedHiprtc& loaded = hiprtc();
    if (loaded.name.empty()) {
        std::fprintf(stderr, "%s\n", loaded.why_not.c_str());
        return failed_status;
    }
    const json job = json::parse(read_whole_file(job_path));
    const std::string source = job.at("source").get<std::string>();
    std::vector<std::string> options = job.at("options").get<std::vector<std::string>>();
    options.push_back("--gpu-architecture=" + job.at("arch").get<std::string>());
    std::vector<const char*> pointers;
    for (const std::string& option : options) {
        pointers.push_back(option.c_str());
    }
    const Hiprtc& api = loaded.api;
    Program program = nullptr;
    int result = api.create(&program, source.c_str(), "normtune.hip", 0, nullptr, nullptr);
    if (result == 0) {
        result = api.compile(program, static_cast<int>(pointers.size()), pointers.data());
        std::size_t size = 0;
        if (api.log_size(program, &size) == 0 && size > 1) {
            std::string log(size, '\0');
            api.log(program, log.data());
            std::fputs(log.c_str(), stderr);
        }
    }
    std::size_t size = 0;
    if (result == 0) {
        result = api.code_size(program, &size);
    }
    std::string code(size, '\0');
    if (result == 0) {
        result = api.code(program, code.data());
    }
    if (program != nullptr) {
        api.destroy(&program);
    }
    if (result != 0) {
        std::fprintf(stderr, "\n%s\n", api.error_string(result));
        return failed_status;
    }
    write_whole_file(code_path, code);
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
    write_whole_file(folder.path("job"), json{{"arch", job.arch}, {"options", job.options}, {"source", job.source.text()}}.dump());
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
