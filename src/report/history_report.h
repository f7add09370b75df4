// What a history holds and what its trends are, for people and for programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/trend.h"
#include "report/sections.h"
#include "store/history.h"

namespace normtune {

/// A run a line, the newest last.
std::vector<Section> history_sections(std::span<const HistoryRunSummary> runs);
/// schemas/history.schema.json, without series.
std::string history_runs_json(std::span<const HistoryRunSummary> runs);

/// The verdict first, then regressions, then changes, the newest first: a row a change, or, `grouped`, a night and cause.
std::vector<Section> trend_sections(const History& history, const Trend& trend, bool grouped);
/// For a comment: the verdict and regressions, the changes folded, below the size that GitHub takes.
std::string trend_markdown(const History& history, const Trend& trend);
/// schemas/history.schema.json.
std::string trend_json(const History& history, const Trend& trend);

/// "+2.1%"; "code abc → def, driver 580.1 → 590.1"; what a change is put down to, in words.
std::string trend_size_text(double log_ratio);
std::string trend_causes_text(const TrendChange& change);

}  // namespace normtune
