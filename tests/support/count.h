// How often a text stands in another.
#pragma once

#include <string>

namespace normtune::testing {

inline std::size_t count(const std::string& text, const std::string& what) {
    std::size_t out = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++out;
    }
    return out;
}

}  // namespace normtune::testing
