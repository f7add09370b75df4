// Plots as SVG 1.1 without scripts: a panel for a page, whose styles it has, or a whole plot as a file of its own.
#pragma once

#include <string_view>
#include <vector>

#include "report/page/plot.h"
#include "support/text_sink.h"

namespace normtune {

/// The series of all panels, each name once, in order of appearance, without marks.
std::vector<PlotSeries> legend_of(const Plot& plot);

/// A swatch of a series, 26 × 12.
void write_swatch(TextSink& out, const PlotSeries& series);

/// An <svg> element with a title and a description; `id` is unlike any other in the page.
void write_panel(TextSink& out, const Panel& panel, std::string_view description, int id);

/// The file: title, caption, legend, panels in up to three columns; `about` says of what device and run it is.
void write_svg(TextSink& out, const Plot& plot, std::string_view about);

}  // namespace normtune
