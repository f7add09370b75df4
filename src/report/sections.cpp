#include "report/sections.h"

#include <algorithm>
#include <cmath>

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
    const double percent = loss * 100;
    return loss == 0 ? "0" : fmt::format("{:.1f}%", std::abs(percent) < 0.05 ? 0.0 : percent);
}

std::string loss_text(const Standing& standing) {
    if (standing.low == standing.high) {
        return loss_text(standing.loss());
    }
    const double half = (standing.high - standing.low) / 2;
    return loss_text(standing.loss()) + (std::isfinite(half) ? fmt::format(" ±{:.1f}", half * 100) : " ±?");
}

}  // namespace normtune
