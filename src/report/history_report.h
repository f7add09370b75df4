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

/// A change and the series that it is of.
struct TrendListed {
    const SeriesTrend* trend;
    const TrendChange* change;
};

/// The newest first; those of one night by size.
std::vector<TrendListed> trend_changes(const History& history, const Trend& trend);
/// The most slowed first; with those that are known.
std::vector<const SeriesTrend*> trend_regressions(const Trend& trend);

/// "pass: trend by policy default: …".
std::string trend_verdict_text(const Trend& trend);
/// Problem and candidate.
std::string trend_series_text(const HistorySeries& series);
/// "cause: floor; driver 580.1 → 590.1".
std::string trend_cause_line(const TrendChange& change);
/// "+2.1% (+1.9% … +2.3%)"
std::string trend_interval_text(const LevelChange& change);
std::string trend_p_text(double p);
/// "+2.1%"; "code abc → def, driver 580.1 → 590.1"; what a change is put down to, in words.
std::string trend_size_text(double log_ratio);
std::string trend_causes_text(const TrendChange& change);

}  // namespace normtune
