#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "support/error.h"
#include "support/escape.h"
#include "support/utf8.h"

namespace normtune::cli {

void print_data(std::string_view data) {
    const std::string shown = is_terminal(stdout) ? report_for_terminal(data) : std::string();
    const std::string_view text = shown.empty() ? data : shown;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        throw SystemError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
}

void print(std::string_view report) {
    print_data(report_for_terminal(report));
}

namespace {

/// Words of thousands of characters (a path, a key) are no help in full.
std::string with_short_words(std::string_view text) {
    constexpr std::size_t longest = 1000, kept = 60;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        out += word.size() <= longest ? std::string(word) : fmt::format("{}… ({} characters)", to_utf8(word.substr(0, kept)), word.size());
        out += end < text.size() ? " " : "";
        at = end + 1;
    }
    return out;
}

}  // namespace

void complain(std::string_view message) {
    const std::string line = report_for_terminal("normtune: " + for_terminal(with_short_words(message))) + "\n";
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
