#include "report/sections.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/escape.h"

namespace normtune {

std::string sections_text(const std::vector<Section>& sections, bool markdown, const Style& style) {
    std::string out;
    for (const auto& [title, table, note] : sections) {
        out += out.empty() ? "" : "\n";
        out += markdown ? fmt::format("### {}\n\n", for_markdown(title)) : style.bold(for_terminal(title)) + "\n";
        out += table.empty() ? "" : markdown ? table.markdown() : table.text(style);
        out += markdown && !table.empty() && !note.empty() ? "\n" : "";
        for (std::string_view rest = note; !rest.empty(); rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1)) {
            const std::string_view line = rest.substr(0, rest.find('\n'));
            out += markdown ? for_markdown(line) + "\n" : std::string(line) + "\n";
        }
    }
    return out;
}

std::string loss_text(double loss) {
    return loss == 0 ? "0" : fmt::format("{:.1f}%", loss * 100);
}

}  // namespace normtune
