#include "support/dynamic_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "support/programs.h"

namespace normtune {

DynamicLibrary::DynamicLibrary(std::span<const std::string> candidates) {
    for (const std::string& candidate : candidates) {
        handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr) {
            path_ = candidate;
            why_not_.clear();
            return;
        }
        // A library that is there but does not load says more than one that is not there.
        const char* error = dlerror();
        const bool exists = candidate.find('/') != std::string::npos && access(candidate.c_str(), F_OK) == 0;
        if (why_not_.empty() || exists) {
            why_not_ = error != nullptr ? error : fmt::format("{} does not load", candidate);
        }
    }
    if (candidates.empty()) {
        why_not_ = "no library of that name was found";
    }
}

void* DynamicLibrary::find(const std::string& name) const {
    return handle_ == nullptr ? nullptr : dlsym(handle_, name.c_str());
}

std::vector<std::string> library_candidates(std::span<const std::string> names, std::initializer_list<const char*> variables,
                                            const char* subfolder, const char* installed) {
    std::vector<std::string> out;
    for (const char* variable : variables) {
        if (const char* home = std::getenv(variable)) {
            for (const std::string& name : names) {
                out.push_back(fmt::format("{}/{}/{}", home, subfolder, name));
            }
        }
    }
    out.insert(out.end(), names.begin(), names.end());
    for (const std::string& name : names) {
        out.push_back(fmt::format("{}/{}", installed, name));
    }
    return out;
}

std::vector<std::string> pip_installed_libraries(const std::string& pattern) {
    std::vector<std::string> prefixes;
    if (const char* venv = std::getenv("VIRTUAL_ENV")) {
        prefixes.emplace_back(venv);
    }
    for (const std::string& folder : path_folders()) {
        if (access((folder + "/python3").c_str(), X_OK) == 0) {
            std::error_code ignored;
            prefixes.push_back(std::filesystem::path(folder).parent_path().string());
            const auto real = std::filesystem::canonical(folder + "/python3", ignored);
            if (!ignored) {
                prefixes.push_back(real.parent_path().parent_path().string());
            }
        }
    }
    prefixes.emplace_back("/usr/local");
    prefixes.emplace_back("/usr");
    std::vector<std::string> found;
    std::set<std::string> seen;
    for (const std::string& prefix : prefixes) {
        for (const char* site : {"site-packages", "dist-packages"}) {
            glob_t matches{};
            const std::string where = fmt::format("{}/lib/python3*/{}/nvidia/*/lib/{}", prefix, site, pattern);
            if (glob(where.c_str(), 0, nullptr, &matches) == 0) {
                for (std::size_t i = matches.gl_pathc; i-- > 0;) {  // the newest version sorts last
                    if (seen.insert(matches.gl_pathv[i]).second) {
                        found.emplace_back(matches.gl_pathv[i]);
                    }
                }
            }
            globfree(&matches);
        }
    }
    return found;
}

}  // namespace normtune
