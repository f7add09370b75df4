#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "support/error.h"
#include "support/utf8.h"

namespace normtune::cli {

void print(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        throw SystemError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
}

void complain(std::string_view message) {
    std::string line = "normtune: ";
    for (const char c : to_utf8(message)) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            line += c;
        }
    }
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
}

bool is_terminal(std::FILE* stream) {
    return isatty(fileno(stream)) == 1;
}

int terminal_width(std::FILE* stream) {
    winsize size{};
    if (!is_terminal(stream) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    return size.ws_col;
}

Style style_of(std::FILE* stream) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool plain = (no_color != nullptr && *no_color != '\0') || term == nullptr || std::strcmp(term, "dumb") == 0;
    return {.color = !plain && is_terminal(stream)};
}

}  // namespace normtune::cli
