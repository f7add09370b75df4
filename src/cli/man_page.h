// Manual pages (man(7)), made of the option sets like help and completion.
#pragma once

#include <string>

#include "cli/command.h"

namespace normtune::cli {

/// normtune(1): the commands, exit codes, environment.
std::string man_page_of_normtune();
/// normtune-COMMAND(1).
std::string man_page(const CommandEntry& entry);

}  // namespace normtune::cli
