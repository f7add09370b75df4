#include "report/sections.h"

#include <fmt/format.h>

namespace normtune {

std::string sections_text(const std::vector<Section>& sections, bool markdown, const Style& style) {
    std::string out;
    for (const auto& [title, table, note] : sections) {
        out += out.empty() ? "" : "\n";
        out += markdown ? fmt::format("### {}\n\n", title) : style.bold(title) + "\n";
        out += table.empty() ? "" : markdown ? table.markdown() : table.text(style);
        out += markdown && !table.empty() && !note.empty() ? "\n" : "";
        out += note;
    }
    return out;
}

std::string loss_text(double loss) {
    return loss == 0 ? "0" : fmt::format("{:.1f}%", loss * 100);
}

}  // namespace normtune
