#include "report/page/plot_svg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/page/page_files.h"
#include "report/table.h"
#include "support/escape.h"

namespace normtune {
namespace {

constexpr double panel_width = 400;
constexpr double row_height = 20;
constexpr double top = 28;     // of a plot in its panel: below the title
constexpr double bottom = 40;  // ticks and label
constexpr double right = 16;
constexpr double letter = 6.3;     // of text at 11 px, on average
constexpr double wide_letter = 7;  // of figures, which most labels are

std::string shortened(std::string_view text, std::size_t most) {
    if (display_width(text) <= most) {
        return for_xml(text);
    }
    std::string out;
    for (std::size_t i = 0; i < text.size() && (display_width(out) + 1 < most || (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U);
         ++i) {
        out += text[i];
    }
    return for_xml(out) + "…";
}

std::string mark_at(double x, double y, int style, double size = 3.6) {
    const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
        std::string path;
        for (const auto& [dx, dy] : corners) {
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x + dx * size, y + dy * size);
        }
        return fmt::format("<path class=\"m c{}\" d=\"{}Z\">", style, path);
    };
    const auto strokes = [&](double a, double b) {
        return fmt::format("<path class=\"x c{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} {:.1f}\">", style, x - a * size,
                           y - b * size, x + a * size, y + b * size, x - b * size, y + a * size, x + b * size, y - a * size);
    };
    switch (style) {
        case 1:
            return polygon({{-1, -1}, {1, -1}, {1, 1}, {-1, 1}});
        case 2:
            return polygon({{0, -1.35}, {1.35, 0}, {0, 1.35}, {-1.35, 0}});
        case 3:
            return polygon({{0, -1.3}, {1.25, 0.95}, {-1.25, 0.95}});
        case 4:
            return strokes(1, 1);
        case 5:
            return polygon({{0, 1.3}, {1.25, -0.95}, {-1.25, -0.95}});
        case 6:
            return strokes(1.3, 0);
        case 7:
            return fmt::format("<circle class=\"o c7\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">", x, y, size);
        default:
            return fmt::format("<circle class=\"m c0\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">", x, y, size);
    }
}

std::string_view element_of(std::string_view begun) {
    return begun.starts_with("<circle") ? "circle" : "path";
}

/// Where a panel's parts are.
struct Layout {
    explicit Layout(const Panel& of) : panel(of) {
        if (of.rows.empty()) {
            std::size_t widest = 0;
            for (const Tick& tick : of.y.scale.ticks()) {
                widest = std::max(widest, display_width(tick.label));
            }
            left = 28 + static_cast<double>(widest) * wide_letter;
            height = 200;
        } else {
            std::size_t widest = 0;
            for (const std::string& row : of.rows) {
                widest = std::max(widest, display_width(row));
            }
            label_letters = std::min<std::size_t>(widest, 26);
            left = 12 + static_cast<double>(label_letters) * wide_letter;
            height = static_cast<double>(of.rows.size()) * row_height;
        }
        width = panel_width - left - right;
    }
    double total_height() const { return top + height + bottom; }
    double x(double value) const { return left + width * panel.x.scale.at(value); }
    /// `series`: which of the panel's, so that marks of one row do not cover each other.
    double y(double value, std::size_t series) const {
        if (panel.rows.empty()) {
            return top + height * (1 - panel.y.scale.at(value));
        }
        const auto count = static_cast<double>(panel.series.size());
        const bool apart = panel.series[series].draw == PlotSeries::Draw::points;
        const double step = apart ? std::min(3.4, row_height * 0.6 / count) : 0;
        return top + (value + 0.5) * row_height + (static_cast<double>(series) - (count - 1) / 2) * step;
    }

    const Panel& panel;
    double left = 0;
    double width = 0;
    double height = 0;
    std::size_t label_letters = 0;
};

/// Labels that do not touch the last one that was kept.
void write_x_ticks(TextSink& out, const Layout& at) {
    double free_from = 0;
    for (const Tick& tick : at.panel.x.scale.ticks()) {
        const double x = at.x(tick.value);
        out += fmt::format("<path class=\"g\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>", x, top, top + at.height);
        const double half = static_cast<double>(display_width(tick.label)) * letter / 2;
        const double middle = std::min(x, panel_width - half - 1);
        if (middle - half >= free_from) {
            out += fmt::format("<text class=\"t\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", middle, top + at.height + 15,
                               for_xml(tick.label));
            free_from = middle + half + letter;
        }
    }
    out += fmt::format("<text class=\"t\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", at.left + at.width / 2,
                       top + at.height + 32, shortened(at.panel.x.label, 58));
}

void write_y_ticks(TextSink& out, const Layout& at) {
    if (at.panel.rows.empty()) {
        double free_to = panel_width;
        for (const Tick& tick : at.panel.y.scale.ticks()) {
            const double y = at.y(tick.value, 0);
            out += fmt::format("<path class=\"g\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/>", at.left, y, at.left + at.width);
            if (y + 6 <= free_to) {
                out += fmt::format("<text class=\"t\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", at.left - 5, y + 4,
                                   for_xml(tick.label));
                free_to = y - 6;
            }
        }
        out += fmt::format("<text class=\"t\" transform=\"translate(11 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                           top + at.height / 2, shortened(at.panel.y.label, 34));
        return;
    }
    for (std::size_t row = 0; row < at.panel.rows.size(); ++row) {
        const double y = top + (static_cast<double>(row) + 0.5) * row_height;
        out += fmt::format("<path class=\"g\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/>", at.left, y, at.left + at.width);
        out += fmt::format("<text class=\"t\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", at.left - 6, y + 4,
                           shortened(at.panel.rows[row], at.label_letters));
    }
}

/// The area of a series' intervals, an edge forth and the other back; a mark without one ends a piece of it.
std::string area_of(const Layout& at, const PlotSeries& series, std::size_t number) {
    std::string out;
    std::vector<const Mark*> piece;
    const auto close = [&] {
        for (const Mark* mark : piece) {
            out += fmt::format("{}{:.1f} {:.1f}", mark == piece.front() ? "M" : "L", at.x(mark->x), at.y(mark->low, number));
        }
        for (auto mark = piece.rbegin(); mark != piece.rend(); ++mark) {
            out += fmt::format("L{:.1f} {:.1f}", at.x((*mark)->x), at.y((*mark)->high, number));
        }
        out += piece.empty() ? "" : "Z";
        piece.clear();
    };
    for (const Mark& mark : series.marks) {
        std::isnan(mark.low) ? close() : piece.push_back(&mark);
    }
    close();
    return out;
}

/// Intervals, and the paths through or of all marks, below the marks.
void write_below(TextSink& out, const Layout& at, std::size_t number) {
    const PlotSeries& series = at.panel.series[number];
    const bool rows = !at.panel.rows.empty();
    std::string path;
    std::string intervals;
    for (const Mark& mark : series.marks) {
        const double x = at.x(mark.x);
        const double y = at.y(mark.y, number);
        if (series.draw == PlotSeries::Draw::boxes) {
            out += fmt::format("<path class=\"b c{}\" d=\"M{:.1f} {:.1f}H{:.1f}v10H{:.1f}Z\"/>", series.style, at.x(mark.low), y - 5,
                               at.x(mark.high), at.x(mark.low));
            path += fmt::format("M{:.1f} {:.1f}v14", x, y - 7);
        } else if (series.draw == PlotSeries::Draw::cloud) {
            path += fmt::format("M{:.1f} {:.1f}h.01", x, y);
        } else if (series.draw != PlotSeries::Draw::points) {
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
        }
        if (series.draw != PlotSeries::Draw::boxes && series.draw != PlotSeries::Draw::band && !std::isnan(mark.low)) {
            intervals += rows ? fmt::format("M{:.1f} {:.1f}H{:.1f}", at.x(mark.low), y, at.x(mark.high))
                              : fmt::format("M{:.1f} {:.1f}V{:.1f}", x, at.y(mark.low, number), at.y(mark.high, number));
        }
    }
    if (const std::string area = series.draw == PlotSeries::Draw::band ? area_of(at, series, number) : ""; !area.empty()) {
        out += fmt::format("<path class=\"f c{}\" d=\"{}\"/>", series.style, area);
    }
    if (!intervals.empty()) {
        out += fmt::format("<path class=\"i c{}\" d=\"{}\"/>", series.style, intervals);
    }
    if (!path.empty()) {
        const std::string_view kind = series.draw == PlotSeries::Draw::dashed  ? "d"
                                      : series.draw == PlotSeries::Draw::cloud ? "p"
                                      : series.draw == PlotSeries::Draw::boxes ? "q"
                                      : series.draw == PlotSeries::Draw::band  ? "n"
                                                                               : "l";
        out += fmt::format("<path class=\"{} c{}\" d=\"{}\"/>", kind, series.style, path);
    }
}

void write_marks(TextSink& out, const Layout& at, std::size_t number) {
    const PlotSeries& series = at.panel.series[number];
    if (series.draw != PlotSeries::Draw::points && series.draw != PlotSeries::Draw::line) {
        return;
    }
    for (const Mark& mark : series.marks) {
        const std::string shape = mark_at(at.x(mark.x), at.y(mark.y, number), series.style);
        const std::string interval = std::isnan(mark.low) ? "" : fmt::format(" ({})", interval_text(at.panel, mark));
        out += fmt::format("{}<title>{}, {}: {}{}</title></{}>", shape, for_xml(series.name), for_xml(place_text(at.panel, mark)),
                           value_text(at.panel, mark), interval, element_of(shape));
    }
}

void write_event_lines(TextSink& out, const Layout& at) {
    for (const PlotEvent& event : at.panel.events) {
        out += fmt::format("<path class=\"z\" d=\"M{:.1f} {:.1f}V{:.1f}\"><title>{}</title></path>", at.x(event.x), top, top + at.height,
                           for_xml(event.what));
    }
}

/// In lines at the top of the plot, each in the first that is free there; what has no room is left out.
void write_event_labels(TextSink& out, const Layout& at) {
    constexpr double line = 13;
    std::array<double, most_event_lines> free_from{};
    for (const PlotEvent& event : at.panel.events) {
        const double wide = static_cast<double>(display_width(event.what)) * wide_letter;
        const double from = std::max(std::min(at.x(event.x) + 4, panel_width - 2 - wide), at.left + 4);
        auto* const free = std::find_if(free_from.begin(), free_from.end(), [&](double end) { return end <= from; });
        if (event.labelled && free != free_from.end()) {
            *free = from + wide + letter;
            out += fmt::format("<text class=\"t e\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", from,
                               top + line * static_cast<double>(free - free_from.begin() + 1) - 2,
                               shortened(event.what, static_cast<std::size_t>(at.width / letter)));
        }
    }
}

void write_inside(TextSink& out, const Panel& panel) {
    const Layout at(panel);
    out += fmt::format("<text class=\"h\" x=\"{:.1f}\" y=\"16\">{}</text>", panel.rows.empty() ? at.left : 6.0, shortened(panel.title, 56));
    write_x_ticks(out, at);
    write_y_ticks(out, at);
    out += fmt::format("<path class=\"a\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>", at.left, top, top + at.height, at.left + at.width);
    if (!std::isnan(panel.x_line)) {
        out += fmt::format("<path class=\"z\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", at.x(panel.x_line), top - 4, top + at.height);
    }
    write_event_lines(out, at);
    for (std::size_t i = panel.series.size(); i-- > 0;) {  // the first series is uppermost
        write_below(out, at, i);
    }
    for (std::size_t i = panel.series.size(); i-- > 0;) {
        write_marks(out, at, i);
    }
    write_event_labels(out, at);
}

}  // namespace

std::vector<PlotSeries> legend_of(const Plot& plot) {
    std::vector<PlotSeries> out;
    for (const Panel& panel : plot.panels) {
        for (const PlotSeries& series : panel.series) {
            if (std::none_of(out.begin(), out.end(), [&](const PlotSeries& other) { return other.name == series.name; })) {
                out.push_back({series.name, series.style, series.draw, {}});
            }
        }
    }
    return out;
}

void write_swatch(TextSink& out, const PlotSeries& series) {
    switch (series.draw) {
        case PlotSeries::Draw::cloud:
            out += fmt::format("<path class=\"p c{}\" d=\"M4 6h.01M12 4h.01M20 7h.01\"/>", series.style);
            return;
        case PlotSeries::Draw::boxes:
            out += fmt::format("<path class=\"b c{0}\" d=\"M3 2H23v8H3Z\"/><path class=\"q c{0}\" d=\"M12 0v12\"/>", series.style);
            return;
        case PlotSeries::Draw::band:
            out += fmt::format("<path class=\"f c{0}\" d=\"M1 2H25v8H1Z\"/><path class=\"n c{0}\" d=\"M1 6H25\"/>", series.style);
            return;
        case PlotSeries::Draw::dashed:
            out += fmt::format("<path class=\"d c{}\" d=\"M1 6H25\"/>", series.style);
            return;
        case PlotSeries::Draw::line:
            out += fmt::format("<path class=\"l c{}\" d=\"M1 6H25\"/>", series.style);
            break;
        case PlotSeries::Draw::points:
            break;
    }
    const std::string shape = mark_at(13, 6, series.style);
    out += shape + "</" + std::string(element_of(shape)) + ">";
}

void write_panel(TextSink& out, const Panel& panel, std::string_view description, int id) {
    const Layout at(panel);
    out += fmt::format(
        "<svg class=\"plot\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\" aria-labelledby=\"t{} d{}\">"
        "<title id=\"t{}\">{}</title><desc id=\"d{}\">{}</desc>",
        panel_width, at.total_height(), panel_width, at.total_height(), id, id, id,
        for_xml(panel.group.empty() ? panel.title : panel.group + ": " + panel.title), id, for_xml(description));
    write_inside(out, panel);
    out += "</svg>\n";
}

void write_svg(TextSink& out, const Plot& plot, std::string_view about) {
    constexpr double margin = 16;
    constexpr double line = 16;
    const std::size_t columns = plot.panels.size() == 4 ? 2 : std::min<std::size_t>(3, plot.panels.size());
    const double width = 2 * margin + panel_width * static_cast<double>(columns);
    const auto letters = static_cast<std::size_t>((width - 2 * margin) / letter);
    std::string body;
    TextSink into([&](std::string_view text) { body += text; });
    double y = margin + 12;
    into += fmt::format("<text class=\"H\" x=\"{}\" y=\"{}\">{}</text>", margin, y, shortened(plot.title, letters * 2 / 3));
    for (const std::string& text : wrapped(fmt::format("{} {}", about, plot.caption), letters)) {
        y += line;
        into += fmt::format("<text class=\"t\" x=\"{}\" y=\"{}\">{}</text>", margin, y, for_xml(text));
    }
    y += line;
    double x = margin;
    for (const PlotSeries& series : legend_of(plot)) {
        const double needs = 40 + static_cast<double>(display_width(series.name)) * letter;
        if (x > margin && x + needs > width - margin) {
            x = margin;
            y += line;
        }
        into += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">", x, y - 2);
        write_swatch(into, series);
        into += fmt::format("<text class=\"t\" x=\"31\" y=\"10\">{}</text></g>", shortened(series.name, letters - 6));
        x += needs + 8;
    }
    y += line + 6;
    std::string group;
    std::size_t column = 0;
    double tallest = 0;
    for (const Panel& panel : plot.panels) {
        if (panel.group != group || column == columns) {
            y += tallest;
            column = 0;
            tallest = 0;
        }
        if (panel.group != group) {
            group = panel.group;
            into += fmt::format("<text class=\"G\" x=\"{}\" y=\"{:.1f}\">{}</text>", margin, y + 14, shortened(group, letters));
            y += line + 8;
        }
        into += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">", margin + panel_width * static_cast<double>(column++), y);
        write_inside(into, panel);
        into += "</g>\n";
        tallest = std::max(tallest, Layout(panel).total_height());
    }
    y += tallest + margin / 2;
    into.flush();
    out += fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "role=\"img\" aria-labelledby=\"t d\">\n<title id=\"t\">{2}</title><desc id=\"d\">{3}</desc>\n<style>{4}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        width, y, for_xml(plot.title), for_xml(fmt::format("{} {}", about, plot.caption)), page_file("plot.css"));
    out += body;
    out += "</svg>\n";
}

}  // namespace normtune
