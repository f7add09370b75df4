// What architectures are that plans have no figures for, so that whoever asks for one hears that it was understood.
#pragma once

#include <string>
#include <string_view>

namespace normtune {

/// "sm_89 is Ada (L4, L40S, RTX 4090)"; empty where it is none that is known by name.
std::string what_architecture_is(std::string_view arch);

}  // namespace normtune
