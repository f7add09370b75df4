// What people see: results on stdout, everything else on stderr.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "report/table.h"
#include "support/text_sink.h"

namespace normtune::cli {

/// Writes results for people to stdout and flushes; whatever a terminal or a CI's runner would obey is made visible. Throws
/// SystemError where they did not arrive, e.g. for a full disk; a reader that went away is none.
void print(std::string_view report);
/// The same for programs (JSON, CSV, code, workflow commands): byte by byte, but on a terminal.
void print_data(std::string_view data);

/// What `make` writes, into the file (support/atomic_file.h); empty or "-": to stdout, as print_data does.
void write_output(const std::string& path, const std::function<void(TextSink&)>& make);

/// "normtune: " and one line on stderr, as for_terminal of support/escape.h has it.
void complain(std::string_view message);

bool is_terminal(std::FILE* stream);
/// Columns of the terminal behind the stream; 0 where there is none.
int terminal_width(std::FILE* stream);
/// Colour on a terminal, unless NO_COLOR is set (no-color.org) or TERM is dumb. The width is the terminal's; elsewhere COLUMNS says it,
/// or nothing does.
Style style_of(std::FILE* stream);

}  // namespace normtune::cli
