#include "support/version.h"

namespace normtune {

std::string_view version() {
    return NORMTUNE_VERSION;
}

std::string_view source_revision() {
    return NORMTUNE_REVISION;
}

}  // namespace normtune
