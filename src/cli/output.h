// What people see: results on stdout, everything else on stderr.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "report/table.h"

namespace normtune::cli {

/// Writes results to stdout and flushes. Throws SystemError where they did not arrive, e.g. for a full disk.
void print(std::string_view text);

/// "normtune: " and one line on stderr; control characters of the message are made visible.
void complain(std::string_view message);

bool is_terminal(std::FILE* stream);
/// Columns of the terminal behind the stream; 0 where there is none.
int terminal_width(std::FILE* stream);
/// Colour on a terminal, unless NO_COLOR is set (no-color.org) or TERM is dumb.
Style style_of(std::FILE* stream);

}  // namespace normtune::cli
