// A kernel as a folder holds it: its code and how it is launched.
#pragma once

#include <string>

namespace normtune {

struct LaunchManifest {
    std::string provider;
    std::string key;
};

}  // namespace normtune
