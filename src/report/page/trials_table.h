// All trials of a run, as a table of a page.
#pragma once

#include "report/page/run_view.h"
#include "support/text_sink.h"

namespace normtune {

void write_trials(TextSink& out, const RunView& run);

}  // namespace normtune
