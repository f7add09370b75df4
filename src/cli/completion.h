// Completion scripts, made of the option sets, so that they know what the commands know.
#pragma once

#include <string>

namespace normtune::cli {

std::string bash_completion();
std::string zsh_completion();

}  // namespace normtune::cli
