// The plots of one run. Pure.
#pragma once

#include "report/page/plot.h"
#include "report/page/run_view.h"

namespace normtune {

/// The colour and shape of a provider in all plots of a page.
int provider_style(std::size_t provider);

/// "limit": the winners' time over the copy's, with that of each heuristic's and provider's best.
Plot limit_plot(const RunView& run);
/// "rows": GB/s against M, a panel for each N; "cols": against N.
Plot throughput_plot(const RunView& run, bool over_rows);
/// "axes": what each value of an axis loses, by problem.
Plot axes_plot(const RunView& run);
/// "heuristics" and "rules": what each loses, by problem.
Plot heuristics_plot(const RunView& run);
Plot rules_plot(const RunView& run);
/// "rounds": the fresh rounds of the winner and of those that tie with it, a panel a problem.
Plot rounds_plot(const RunView& run);
/// "machine": the floor and the clocks, in the order of measuring.
Plot machine_plot(const RunView& run);

}  // namespace normtune
