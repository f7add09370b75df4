// What a history holds and what its trends are, for people and for programs.
#pragma once

#include <span>
#include <string>

#include "judge/trend.h"
#include "report/table.h"
#include "store/history.h"

namespace normtune {

/// A run a line, the newest last.
std::string history_runs_text(std::span<const HistoryRunSummary> runs, bool markdown, const Style& style);
/// schemas/history.schema.json, without series.
std::string history_runs_json(std::span<const HistoryRunSummary> runs);

/// The verdict first, then regressions, then all other changes, the newest first.
std::string trend_text(const History& history, const Trend& trend, const Style& style);
/// For a comment: the same, the other changes folded, below the size that GitHub takes.
std::string trend_markdown(const History& history, const Trend& trend);
/// schemas/history.schema.json.
std::string trend_json(const History& history, const Trend& trend);

/// "+2.1%"; "code abc → def, driver 580.1 → 590.1"; what a change is put down to, in words.
std::string trend_size_text(double log_ratio);
std::string trend_causes_text(const TrendChange& change);

}  // namespace normtune
