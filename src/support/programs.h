// Where programs are: this one, and those of PATH.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace normtune {

/// This program's own file.
std::string own_executable();

/// The folders of PATH, in order, without empty ones.
std::vector<std::string> path_folders();

/// A file that can be run.
bool is_program(const std::string& path);

/// The first in PATH.
std::optional<std::string> program_on_path(std::string_view name);

}  // namespace normtune
