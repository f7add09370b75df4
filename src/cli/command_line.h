// From the words of a command line to a command that can be run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"

namespace normtune::cli {

/// `words` as main gets them, the executable's name first. Help and the version are commands like the others.
/// Throws InputError: unknown command or option (with the nearest), a value that is missing or out of range.
std::unique_ptr<Command> parse_command_line(const std::vector<std::string>& words);

}  // namespace normtune::cli
