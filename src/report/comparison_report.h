// A comparison for people and programs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/change_text.h"
#include "judge/comparison.h"
#include "judge/summary.h"
#include "report/sections.h"
#include "support/text_sink.h"

namespace normtune {

struct GateVerdict;  // judge/gate.h

/// The verdict and geometric means first. Of each verdict at most `most` pairs are shown (0: all); pairs that are the same are counted
/// alone.
std::vector<Section> comparison_sections(const Comparison& comparison, const Summary& summary, std::size_t most);
/// All that these tables may have.
std::vector<std::string> comparison_headings(Metric metric);

/// For a pull-request comment: geometric means and the worst, the rest folded; GitHub's and GitLab's markdown, of fewer characters than
/// GitHub takes.
std::string comparison_markdown(const Comparison& comparison, const Summary& summary, std::size_t most);

/// schemas/comparison.schema.json. `gate`: what a gate made of it and of the other metrics; null: there was none.
void write_comparison_json(TextSink& out, const Comparison& comparison, const Summary& summary, const GateVerdict* gate = nullptr);

/// One line a pair, RFC 4180.
void write_comparison_csv(TextSink& out, const Comparison& comparison);

// --- What these have in common ---

/// "2 slower, 1 faster, 40 same": every verdict that occurs, and 0 slower.
std::string verdict_counts(const Summary& summary, Metric metric);
/// "-" where there is none.
std::string interval_text(const Pair& pair);
/// "rounds 6/8".
std::string evidence_text(const Comparison& comparison, const Pair& pair);
/// Geometric means.
Table group_table(const Comparison& comparison, std::span<const RatioGroup> groups);
/// problem, configuration, before, after, change, interval, evidence.
std::vector<std::string> pair_cells(const Comparison& comparison, const Pair& pair);
/// How the verdicts were reached: interval's level, run-to-run deviation, copies; one or two sentences.
std::string method_text(const Comparison& comparison);
/// Pairs with that verdict, the largest change first.
std::vector<const Pair*> pairs_with(const Comparison& comparison, Verdict verdict);

}  // namespace normtune
