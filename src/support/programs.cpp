#include "support/programs.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace normtune {

std::string own_executable() {
    return std::filesystem::read_symlink("/proc/self/exe").string();
}

std::vector<std::string> path_folders() {
    const char* const path = std::getenv("PATH");
    std::vector<std::string> out;
    std::istringstream stream(path == nullptr ? "" : path);
    for (std::string folder; std::getline(stream, folder, ':');) {
        if (!folder.empty()) {
            out.push_back(folder);
        }
    }
    return out;
}

bool is_program(const std::string& path) {
    std::error_code none;
    return std::filesystem::is_regular_file(path, none) && access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> program_on_path(std::string_view name) {
    for (const std::string& folder : path_folders()) {
        if (std::string at = folder + "/" + std::string(name); is_program(at)) {
            return at;
        }
    }
    return std::nullopt;
}

}  // namespace normtune
