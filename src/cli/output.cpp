#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "support/atomic_file.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/utf8.h"

namespace normtune::cli {

void print_data(std::string_view data) {
    const std::string shown = is_terminal(stdout) ? report_for_terminal(data) : std::string();
    const std::string_view text = shown.empty() ? data : shown;
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written && errno != EPIPE) {  // whoever read has had enough, as in `normtune best … | head`
        throw SystemError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
}

void write_output(const std::string& path, const std::function<void(TextSink&)>& make) {
    if (!path.empty() && path != "-") {
        write_file_atomically(path, make);
        return;
    }
    TextSink out(print_data);
    make(out);
    out.flush();
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

namespace {

/// COLUMNS, as shells and tests set it; 0: it says nothing.
std::size_t named_width() {
    constexpr std::size_t narrowest = 20;
    constexpr std::size_t widest = 100'000;
    const char* const columns = std::getenv("COLUMNS");
    const std::string_view text = columns == nullptr ? "" : columns;
    std::size_t width = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    return error == std::errc{} && end == text.data() + text.size() && width > 0 ? std::clamp(width, narrowest, widest) : 0;
}

}  // namespace

Style style_of(std::FILE* stream) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool plain = (no_color != nullptr && *no_color != '\0') || term == nullptr || std::strcmp(term, "dumb") == 0;
    const int width = terminal_width(stream);
    return {.color = !plain && is_terminal(stream), .width = width > 0 ? static_cast<std::size_t>(width) : named_width()};
}

}  // namespace normtune::cli
