#include "support/version.h"

namespace normtune {

std::string_view version() {
    return NORMTUNE_VERSION;
}

}  // namespace normtune
