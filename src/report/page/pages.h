// The pages of `normtune report` and `normtune history trend`, and plots of the former one by one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judge/comparison.h"
#include "judge/summary.h"
#include "judge/trend.h"
#include "report/page/plot.h"
#include "report/page/run_view.h"
#include "support/text_sink.h"

namespace normtune {

/// Names of plots of a run, and of a comparison.
std::vector<std::string> run_plot_names();
std::vector<std::string> comparison_plot_names();
/// One that is named so.
Plot run_plot(const RunView& run, std::string_view name);
Plot comparison_plot(const Comparison& comparison, std::string_view name);

/// What a plot says of where it comes from: device, driver, when.
std::string about_run(const Results& results);
std::string about_comparison(const Comparison& comparison);

void write_run_page(TextSink& out, const RunView& run, std::string_view file);
/// Verdict, changes, and each series' nights; of many series and changes the foremost.
void write_trend_page(TextSink& out, const History& history, const Trend& trend);
void write_comparison_page(TextSink& out, const Comparison& comparison, const Summary& summary);

/// The record without its verification, and with \1 and \2 for its problem and candidate in the line that repeats it: what pages need.
void keep_for_page(Record& record);

}  // namespace normtune
