#include "report/page/plot.h"

#include <cmath>

#include <fmt/format.h>

#include "report/table.h"

namespace normtune {
namespace {

std::string axis_text(const PlotAxis& axis, double value) {
    return axis.text != nullptr ? axis.text(value) : plot_number(value);
}

}  // namespace

std::string plot_number(double value) {
    return std::isfinite(value) ? three_digits(value) : "-";
}

std::string place_text(const Panel& panel, const Mark& mark) {
    return !panel.rows.empty()       ? panel.rows[static_cast<std::size_t>(mark.y)]
           : panel.x.text != nullptr ? panel.x.text(mark.x)
                                     : fmt::format("{:.6g}", mark.x);
}

std::string value_text(const Panel& panel, const Mark& mark) {
    return panel.rows.empty() ? axis_text(panel.y, mark.y) : axis_text(panel.x, mark.x);
}

std::string interval_text(const Panel& panel, const Mark& mark) {
    const PlotAxis& axis = panel.rows.empty() ? panel.y : panel.x;
    return std::isnan(mark.low) ? "-" : fmt::format("{} – {}", axis_text(axis, mark.low), axis_text(axis, mark.high));
}

Numbers numbers_of(const Panel& panel) {
    const bool rows = !panel.rows.empty();
    Numbers out;
    out.headings = {"series", rows ? "row" : ">" + panel.x.label, ">" + (rows ? panel.x.label : panel.y.label), ">interval"};
    for (const PlotSeries& series : panel.series) {
        for (const Mark& mark : series.marks) {
            out.lines.push_back({series.name, place_text(panel, mark), value_text(panel, mark), interval_text(panel, mark)});
        }
    }
    return out;
}

}  // namespace normtune
