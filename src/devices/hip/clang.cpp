#include "devices/hip/clang.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "devices/hip/compile_child.h"
#include "support/atomic_file.h"
#include "support/child_process.h"
#include "support/error.h"
#include "support/programs.h"

namespace normtune::hip {
namespace {

// From 17 on it knows gfx942.
constexpr int newest = 21;
constexpr int oldest = 17;

struct Clang {
    std::string path;
    std::string name;
};

std::vector<std::string> candidates() {
    std::vector<std::string> out;
    if (const char* own = std::getenv("NORMTUNE_CLANG")) {
        return {own};
    }
    if (const char* rocm = std::getenv("ROCM_PATH")) {
        out.push_back(fmt::format("{}/llvm/bin/clang", rocm));
    }
    out.emplace_back("/opt/rocm/llvm/bin/clang");
    const std::vector<std::string> folders = path_folders();
    for (int version = newest; version >= oldest; --version) {
        for (const std::string& folder : folders) {
            out.push_back(fmt::format("{}/clang-{}", folder, version));
        }
    }
    for (const std::string& folder : folders) {
        out.push_back(fmt::format("{}/clang", folder));
    }
    return out;
}

/// "Debian clang version 19.1.7 (3)" → "19.1.7"; empty where it is no clang.
std::string version_of(const std::string& path) {
    const CompileFolder folder;
    constexpr std::chrono::seconds limit{10};
    if (run_child({path, "--version"}, folder.path("log"), limit).status != 0) {
        return {};
    }
    const std::string said = read_file(folder.path("log"));
    constexpr std::string_view before = "clang version ";
    const std::size_t at = said.find(before);
    return at == std::string::npos ? ""
                                   : said.substr(at + before.size(), said.find_first_of(" \n", at + before.size()) - at - before.size());
}

Clang find() {
    for (const std::string& path : candidates()) {
        if (access(path.c_str(), X_OK) != 0) {
            continue;
        }
        const std::string version = version_of(path);
        if (!version.empty() && std::atoi(version.c_str()) >= oldest) {
            return {path, fmt::format("clang {} ({})", version, path)};
        }
    }
    return {};
}

const Clang& clang() {
    static const Clang found = find();
    return found;
}

}  // namespace

std::string clang_name(std::string& why_not) {
    if (clang().name.empty()) {
        why_not = fmt::format("no clang {} or newer on the PATH or in ROCm; install clang-19 and lld-19, or set NORMTUNE_CLANG", oldest);
    }
    return clang().name;
}

CompiledCode clang_compile(const CompileJob& job) {
    const CompileFolder folder;
    write_whole_file(folder.path("kernel.hip"), named_source(job.source));
    std::vector<std::string> words{clang().path,
                                   "-x",
                                   "hip",
                                   "--cuda-device-only",
                                   "-nogpuinc",
                                   "-nogpulib",
                                   "-O3",
                                   "--no-gpu-bundle-output",
                                   "-fuse-cuid=none",  // equal code has equal bytes, wherever it was compiled
                                   "-o",
                                   folder.path("code")};
    words.push_back("--offload-arch=" + job.arch);
    words.insert(words.end(), job.options.begin(), job.options.end());
    words.push_back(folder.path("kernel.hip"));
    return compile_in_child(words, folder, job);
}

}  // namespace normtune::hip
