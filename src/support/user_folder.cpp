#include "support/user_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace normtune {
namespace {

/// XDG takes a path that is not absolute for none.
std::string absolute_path_of(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value == '/' ? value : "";
}

}  // namespace

std::string user_folder(const char* variable, std::string_view below_home) {
    if (const std::string base = absolute_path_of(variable); !base.empty()) {
        return base + "/normtune";
    }
    const std::string home = absolute_path_of("HOME");
    return home.empty() ? "" : fmt::format("{}/{}/normtune", home, below_home);
}

bool only_ours(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace normtune
