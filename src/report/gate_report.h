// A gate's verdict for people, for CI servers and for GitHub.
#pragma once

#include <string>
#include <vector>

#include "judge/gate.h"
#include "report/sections.h"
#include "support/text_sink.h"

namespace normtune {

/// The result and geometric means, then what does not pass.
std::vector<Section> gate_sections(const GateVerdict& verdict);
/// All that these tables have.
std::vector<std::string> gate_headings();

/// For a pull-request comment, or GitHub's step summary: the worst failures, the rest folded; of fewer characters than GitHub takes.
std::string gate_markdown(const GateVerdict& verdict);

/// JUnit XML as Jenkins and GitLab read it: a test suite a metric, op and mode, a test case a pair. What is
/// inconclusive, and what is a known regression, is a skipped case with its reason.
std::string gate_junit(const GateVerdict& verdict);

/// One line a pair and metric, RFC 4180; `before` and `after` in us, of memory in MiB.
void write_gate_csv(TextSink& out, const GateVerdict& verdict);

/// GitHub's workflow commands: an annotation for each of the first ten cases that fail (it shows no more of a step), one for the rest.
std::string gate_annotations(const GateVerdict& verdict);

}  // namespace normtune
