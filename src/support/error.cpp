#include "support/error.h"

#include <fmt/format.h>

namespace normtune {

InputError::InputError(std::string_view file, int line, std::string_view message)
    : std::runtime_error(line > 0 ? fmt::format("{}:{}: {}", file, line, message)
                                  : fmt::format("{}: {}", file, message)) {}

}  // namespace normtune
