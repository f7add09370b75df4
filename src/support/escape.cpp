#include "support/escape.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/utf8.h"

namespace normtune {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool alphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The code point of a well-formed sequence.
char32_t code_point(std::string_view sequence) {
    const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(sequence[i])); };
    if (sequence.size() == 1) {
        return byte(0);
    }
    char32_t out = byte(0) & (0x7FU >> sequence.size());
    for (std::size_t i = 1; i < sequence.size(); ++i) {
        out = out << 6U | (byte(i) & 0x3FU);
    }
    return out;
}

/// Calls take(code point, its bytes) for each character; what is no UTF-8 is U+FFFD.
template <typename Take>
void each_character(std::string_view text, Take take) {
    while (!text.empty()) {
        const std::size_t length = utf8_sequence_length(text);
        const std::string_view sequence = length == 0 ? replacement : text.substr(0, length);
        take(code_point(sequence), sequence);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
}

bool is_control(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

/// Marks, embeddings and isolates of the direction of writing, and Unicode's line ends (UAX 9; "Trojan Source", CVE-2021-42574).
bool is_unseen(char32_t c) {
    return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

void add_visible(std::string& out, char32_t c, std::string_view sequence) {
    if (is_control(c)) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else if (is_unseen(c)) {
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
        out += sequence;
    }
}

/// The emphasis that report/table.h sets: bold, faint, three colours, and their end.
std::size_t style_length(std::string_view text) {
    for (const std::string_view style : {"\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[0m"}) {
        if (text.starts_with(style)) {
            return style.size();
        }
    }
    return 0;
}

}  // namespace

std::string for_terminal(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    each_character(text, [&](char32_t c, std::string_view sequence) { add_visible(out, c, sequence); });
    return out;
}

std::string report_for_terminal(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool at_start = true;  // of a line, but for blanks of any alphabet
    while (!text.empty()) {
        std::size_t length = style_length(text);
        if (length > 0) {
            out += text.substr(0, length);
        } else if (at_start && text.starts_with("::")) {
            length = 1;
            out += "\\x3a";
        } else if (text.starts_with("##[")) {
            length = 1;
            out += "\\x23";
        } else {
            length = std::max<std::size_t>(utf8_sequence_length(text), 1);
            const std::string_view sequence = text.substr(0, length);
            out += sequence == "\n" ? "\n" : for_terminal(sequence);
            const auto first = static_cast<unsigned char>(sequence.front());
            at_start = first == '\n' || (at_start && (first <= ' ' || first >= 0x80));
        }
        text.remove_prefix(length);
    }
    return out;
}

std::string for_workflow_command(std::string_view text, bool property) {
    std::string out;
    each_character(text, [&](char32_t c, std::string_view sequence) {
        if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','))) {
            out += fmt::format("%{:02X}", static_cast<unsigned>(c));
        } else {
            add_visible(out, c, sequence);
        }
    });
    return out;
}

std::string for_markdown(std::string_view text) {
    constexpr std::string_view markup = "&<>|*`[]\\~$";
    constexpr std::string_view no_space = "&#8203;";  // ends what GitHub finds in the page after the markup is gone: @name, #123
    std::string clean;
    each_character(text, [&](char32_t c, std::string_view sequence) {
        if (c == '\n' || c == '\r') {
            clean += ' ';
        } else {
            add_visible(clean, c, sequence);
        }
    });
    std::string out;
    for (std::size_t i = 0; i < clean.size(); ++i) {
        const char c = clean[i];
        const char before = i > 0 ? clean[i - 1] : ' ';
        const char after = i + 1 < clean.size() ? clean[i + 1] : ' ';
        const std::string_view rest = std::string_view(clean).substr(i);
        if (c == '&' || c == '<' || c == '>') {
            out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;";
        } else if (markup.find(c) != std::string_view::npos) {
            out += fmt::format("&#{};", static_cast<int>(c));
        } else if (c == '@' || (c == '#' && alphanumeric(after))) {
            out += fmt::format("&#{};{}", static_cast<int>(c), no_space);
        } else if (c == '_' && !(alphanumeric(before) && alphanumeric(after))) {  // inside a word it emphasises nothing
            out += "&#95;";
        } else if ((c == ':' && rest.starts_with("://")) || (c == '.' && i >= 3 && clean.compare(i - 3, 3, "www") == 0)) {
            out += fmt::format("&#{};", static_cast<int>(c));  // GitHub makes links of bare addresses
        } else {
            out += c;
        }
    }
    return out;
}

std::string markdown_code(std::string_view text) {
    const std::string clean = for_terminal(text);
    // A table's cell ends at a bar even inside a span, and a span loses its blanks.
    const bool plain = !clean.empty() && clean.front() != ' ' && clean.back() != ' ' && clean.find_first_of("`|\\") == std::string::npos;
    return plain ? fmt::format("`{}`", clean) : "<code>" + for_markdown(clean) + "</code>";
}

std::string for_xml(std::string_view text) {
    std::string out;
    each_character(text, [&](char32_t c, std::string_view sequence) {
        if (c == '&' || c == '<' || c == '>') {
            out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;";
        } else if (c == '"') {
            out += "&quot;";
        } else if (c == '\n' || c == '\r' || c == '\t') {
            out += ' ';
        } else {
            out += is_control(c) || c == 0xFFFE || c == 0xFFFF ? replacement : sequence;
        }
    });
    return out;
}

std::string for_html(std::string_view text) {
    std::string out;
    each_character(text, [&](char32_t c, std::string_view sequence) {
        if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'') {
            out += fmt::format("&#{};", static_cast<unsigned>(c));
        } else {
            add_visible(out, c, sequence);
        }
    });
    return out;
}

std::string for_html_script(std::string_view json) {
    std::string out;
    each_character(json, [&](char32_t c, std::string_view sequence) {
        // In JSON these stand inside texts alone, where an escape means the same.
        if (c == '<' || c == '>' || c == '&') {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else if (c >= 0x7F && (is_control(c) || is_unseen(c))) {
            out += '\\';
            add_visible(out, c, sequence);
        } else {
            out += sequence;
        }
    });
    return out;
}

std::string for_json(std::string json) {
    constexpr std::string_view command = "##[";
    if (json.find(command) == std::string::npos &&
        std::all_of(json.begin(), json.end(), [](char c) { return static_cast<unsigned char>(c) < 0x7F; })) {
        return json;
    }
    std::string out;
    for (std::string_view rest = json; !rest.empty();) {
        const std::size_t length = std::max<std::size_t>(utf8_sequence_length(rest), 1);
        const char32_t c = code_point(rest.substr(0, length));
        const bool escaped = rest.starts_with(command) || (c >= 0x7F && (is_control(c) || is_unseen(c)));
        out += escaped ? fmt::format("\\u{:04x}", static_cast<unsigned>(c)) : std::string(rest.substr(0, length));
        rest.remove_prefix(length);
    }
    return out;
}

std::string for_shell(std::string_view word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
        return std::string(word);
    }
    // Bytes that a terminal would not show as they are: $'…' of bash, zsh and ksh, byte by byte.
    const bool bytes = for_terminal(word) != word;
    std::string out = bytes ? "$'" : "'";
    for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        if (bytes && (byte < 0x20 || byte >= 0x7F || c == '\'' || c == '\\')) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c == '\'' ? std::string("'\\''") : std::string(1, c);
        }
    }
    return out + "'";
}

}  // namespace normtune
