#include "report/page/plot.h"

#include <cmath>

#include <fmt/format.h>

#include "report/table.h"

namespace normtune {

std::string plot_number(double value) {
    return std::isfinite(value) ? three_digits(value) : "-";
}

Numbers numbers_of(const Panel& panel) {
    const bool rows = !panel.rows.empty();
    Numbers out;
    out.headings = {"series", rows ? "row" : ">" + panel.x.label, ">" + (rows ? panel.x.label : panel.y.label), ">interval"};
    for (const PlotSeries& series : panel.series) {
        for (const Mark& mark : series.marks) {
            const double value = rows ? mark.x : mark.y;
            out.lines.push_back({series.name, rows ? panel.rows[static_cast<std::size_t>(mark.y)] : fmt::format("{:.6g}", mark.x),
                                 plot_number(value),
                                 std::isnan(mark.low) ? "-" : fmt::format("{} – {}", plot_number(mark.low), plot_number(mark.high))});
        }
    }
    return out;
}

}  // namespace normtune
