#include "report/page/html.h"

#include <sha256.h>

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "report/page/page_files.h"
#include "report/page/plot_svg.h"
#include "support/escape.h"
#include "support/version.h"

namespace normtune {
namespace {

/// A source expression of a content security policy: the digest of an element's text, in base64.
std::string digest_source(std::string_view text) {
    SHA2_CTX state;
    SHA256Init(&state);
    SHA256Update(&state, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    std::array<std::uint8_t, SHA256_DIGEST_LENGTH + 1> digest{};  // and one of 0, so that it is whole threes
    SHA256Final(digest.data(), &state);
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < digest.size(); i += 3) {
        const std::uint32_t three = std::uint32_t{digest[i]} << 16U | std::uint32_t{digest[i + 1]} << 8U | digest[i + 2];
        for (const unsigned shift : {18U, 12U, 6U, 0U}) {
            out += digits[(three >> shift) & 63U];
        }
    }
    out.back() = '=';  // for the byte that was added
    return "'sha256-" + out + "'";
}

std::string styles() {
    return std::string(page_file("plot.css")) + std::string(page_file("page.css"));
}

bool is_right(std::string_view heading) {
    return heading.starts_with('>');
}

void write_legend(TextSink& out, const Plot& plot) {
    out += "<ul class=\"legend\">";
    for (const PlotSeries& series : legend_of(plot)) {
        out += "<li><svg class=\"plot\" width=\"26\" height=\"12\" viewBox=\"0 0 26 12\" aria-hidden=\"true\">";
        write_swatch(out, series);
        out += fmt::format("</svg> {}</li>", for_html(series.name));
    }
    out += "</ul>\n";
}

/// A long word, as keys are, may break behind a point or a slash before it breaks anywhere.
std::string breakable(std::string_view text) {
    constexpr std::size_t long_word = 20;
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        std::string_view word = text.substr(0, end);
        while (end > long_word) {
            const std::size_t at = word.find_first_of("./");
            if (at == std::string_view::npos) {
                break;
            }
            out += for_html(word.substr(0, at + 1)) + "<wbr>";
            word.remove_prefix(at + 1);
        }
        out += for_html(word);
        out += end < text.size() ? " " : "";
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

Numbers table_of(const Panel& panel) {
    return panel.numbers.lines.empty() ? numbers_of(panel) : panel.numbers;
}

std::string full_title(const Panel& panel) {
    return panel.group.empty() ? panel.title : panel.group + ": " + panel.title;
}

}  // namespace

void write_page(TextSink& out, std::string_view title, const std::vector<PageSection>& sections) {
    const std::string css = styles();
    const std::string_view script = page_file("page.js");
    out += fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; style-src {}; base-uri 'none'; "
        "form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"generator\" content=\"normtune {}\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
        digest_source(script), digest_source(css), for_html(version()), for_html(title), css);
    out += fmt::format("<header><h1>{}</h1>\n<nav aria-label=\"Sections\"><ul>", breakable(title));
    for (const PageSection& section : sections) {
        out += fmt::format("<li><a href=\"#{}\">{}</a></li>", section.id, for_html(section.title));
    }
    out += "</ul></nav></header>\n<main>\n";
    for (const PageSection& section : sections) {
        out += fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n", section.id,
                           for_html(section.title));
        section.write(out);
        out += "</section>\n";
    }
    out += fmt::format("</main>\n<footer>Made by normtune {}.</footer>\n<script>", for_html(version()));
    out += script;
    out += "</script>\n</body>\n</html>\n";
}

void write_paragraph(TextSink& out, std::string_view text, std::string_view css_class) {
    out += css_class.empty() ? fmt::format("<p>{}</p>\n", breakable(text))
                             : fmt::format("<p class=\"{}\">{}</p>\n", css_class, breakable(text));
}

void write_cards(TextSink& out, const std::vector<std::pair<std::string, std::string>>& cards) {
    out += "<dl class=\"cards\">";
    for (const auto& [figure, what] : cards) {
        out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", breakable(what), for_html(figure));
    }
    out += "</dl>\n";
}

void write_table(TextSink& out, std::string_view caption, const Numbers& numbers) {
    out += fmt::format("<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table><caption>{0}</caption><thead><tr>",
                       for_html(caption));
    for (const std::string& heading : numbers.headings) {
        const bool right = is_right(heading);
        out += fmt::format("<th scope=\"col\"{}>{}</th>", right ? " class=\"n\"" : "",
                           for_html(std::string_view(heading).substr(right ? 1 : 0)));
    }
    out += "</tr></thead><tbody>\n";
    for (const std::vector<std::string>& line : numbers.lines) {
        out += "<tr>";
        for (std::size_t i = 0; i < line.size(); ++i) {
            const std::string_view css_class = is_right(numbers.headings[i]) ? " class=\"n\"" : "";
            out += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", css_class, for_html(line[i]))
                          : fmt::format("<td{}>{}</td>", css_class, for_html(line[i]));
        }
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
}

void write_facts(TextSink& out, std::string_view caption, const std::vector<std::pair<std::string, std::string>>& facts) {
    out += fmt::format(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table class=\"facts\"><caption>{0}</caption><tbody>\n",
        for_html(caption));
    for (const auto& [name, value] : facts) {
        out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", for_html(name), breakable(value));
    }
    out += "</tbody></table></div>\n";
}

void write_plot(TextSink& out, const Plot& plot, int& next_id) {
    write_paragraph(out, plot.caption, "caption");
    write_legend(out, plot);
    std::string group;
    bool open = false;
    for (const Panel& panel : plot.panels) {
        if (!open || panel.group != group) {
            out += open ? "</div>\n" : "";
            group = panel.group;
            out += group.empty() ? "" : fmt::format("<h3>{}</h3>\n", breakable(group));
            out += "<div class=\"panels\">\n";
            open = true;
        }
        out += fmt::format("<figure data-panel=\"{}\">", for_html(full_title(panel)));
        write_panel(out, panel, plot.caption, next_id++);
        out += "<details><summary>Numbers</summary>";
        write_table(out, full_title(panel), table_of(panel));
        out += "</details></figure>\n";
    }
    out += open ? "</div>\n" : "";
}

void write_choice_of_panels(TextSink& out, const Plot& plot, std::string_view label, int& next_id) {
    write_paragraph(out, plot.caption, "caption");
    out += fmt::format("<p><label>{} <select data-chooses=\"{}\">", for_html(label), plot.name);
    for (const Panel& panel : plot.panels) {
        out += fmt::format("<option>{}</option>", for_html(panel.title));
    }
    out += fmt::format("</select></label></p>\n<div id=\"{}-choice\">\n", plot.name);
    for (const Panel& panel : plot.panels) {
        out += fmt::format("<figure class=\"alone\" data-panel=\"{}\"{}>", for_html(panel.title),
                           &panel == &plot.panels.front() ? "" : " hidden");
        write_panel(out, panel, plot.caption, next_id++);
        write_legend(out, {"", "", "", {panel}});
        write_table(out, panel.title, table_of(panel));
        out += "</figure>\n";
    }
    out += "</div>\n";
}

}  // namespace normtune
