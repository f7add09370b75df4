#include "report/sections.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/escape.h"

namespace normtune {

std::string sections_text(const std::vector<Section>& sections, const Style& style) {
    std::string out;
    for (const Section& section : sections) {
        out += fmt::format("{}{}\n", out.empty() ? "" : "\n", style.bold(for_terminal(section.title)));
        out += section.table.empty() ? "" : section.table.text(style);
        out += section.note;
    }
    return out;
}

std::string sections_markdown(const std::vector<Section>& sections) {
    std::string out;
    for (const Section& section : sections) {
        out += fmt::format("{}### {}\n\n", out.empty() ? "" : "\n", for_markdown(section.title));
        out += section.table.empty() ? "" : section.table.markdown();
        out += section.table.empty() || section.note.empty() ? "" : "\n";
        for (std::string_view note = section.note; !note.empty(); note.remove_prefix(std::min(note.find('\n'), note.size() - 1) + 1)) {
            out += for_markdown(note.substr(0, note.find('\n'))) + "\n";
        }
    }
    return out;
}

std::string loss_text(double loss) {
    return loss == 0 ? "0" : fmt::format("{:.1f}%", loss * 100);
}

}  // namespace normtune
