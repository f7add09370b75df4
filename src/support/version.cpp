#include "support/version.h"

namespace normtune {

std::string_view version() {
    return NORMTUNE_VERSION;
}

std::string_view source_revision() {
    return NORMTUNE_REVISION;
}

std::string_view build_compiler() {
#ifdef __clang__
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

}  // namespace normtune
