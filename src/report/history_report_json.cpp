#include <cmath>

#include "report/history_report.h"
#include "report/json_document.h"

namespace normtune {
namespace {

constexpr int history_schema_version = 1;

nlohmann::json run_json(const HistoryRun& run) {
    return {{"started", run.started},     {"backend", run.backend},   {"device", run.device}, {"arch", run.arch},
            {"device_id", run.device_id}, {"has_uuid", run.has_uuid}, {"driver", run.driver}, {"compiler", run.compiler},
            {"revision", run.revision},   {"source", run.source}};
}

/// A logarithm as a ratio.
nlohmann::json level_json(const LevelChange& change) {
    return {{"ratio", std::exp(change.size)}, {"low", std::exp(change.low)}, {"high", std::exp(change.high)}};
}

nlohmann::json change_json(const History& history, const SeriesTrend& series, const TrendChange& change) {
    const ChangePoint& point = change.point;
    const auto run = [&](std::size_t night) { return series.series->nights[night].run; };
    const auto name = [](Cause cause) { return cause_names.name(cause); };
    nlohmann::json out = level_json(point.change);
    out["run"] = run(point.night);
    out["started"] = history.runs[run(point.night)].started;
    out["earliest_run"] = run(std::min(point.earliest, point.night));
    out["latest_run"] = run(std::max(point.latest, point.night));
    out["found_run"] = run(point.found);
    out["p"] = point.p;
    out["own"] = level_json(change.own);
    out["floor_us"] = change.floor_us;
    out["copy_ratio"] = std::exp(change.copy);
    out["changed"] = json_list(change.changed, [&](const ChangedFacet& facet) {
        return nlohmann::json{{"what", name(facet.facet)}, {"before", facet.before}, {"after", facet.after}};
    });
    out["not_recorded"] = json_list(change.not_recorded, name);
    out["causes"] = json_list(change.causes, name);
    out["judged"] = change.judged;
    out["series_with_it"] = change.with_it;
    out["series_of"] = change.of;
    return out;
}

nlohmann::json series_json(const History& history, const SeriesTrend& series) {
    const HistoryTrial& trial = series.series->trial;
    const auto& nights = series.series->nights;
    return {{"problem", trial.problem},
            {"provider", trial.provider},
            {"configuration", trial.configuration},
            {"device", series.series->device},
            {"cold", trial.cold},
            {"in_newest_run", series.in_newest},
            {"slower_ratio", std::exp(series.slower)},
            {"threshold", series.threshold},
            {"regression", series.regression},
            {"known", json_if(!series.known.empty(), series.known)},
            {"runs", json_list(nights, [](const HistoryNight& night) { return night.run; })},
            {"p50_us", json_list(nights, [](const HistoryNight& night) { return night.times.p50_us; })},
            {"changes", json_list(series.changes, [&](const TrendChange& change) { return change_json(history, series, change); })}};
}

}  // namespace

std::string history_runs_json(std::span<const HistoryRunSummary> runs) {
    return json_document(history_schema_version, {{"runs", json_list(runs, [](const HistoryRunSummary& it) {
                                                       nlohmann::json out = run_json(it.run);
                                                       out["trials"] = it.trials;
                                                       return out;
                                                   })}});
}

std::string trend_json(const History& history, const Trend& trend) {
    return json_document(history_schema_version,
                         {{"policy", trend.policy},
                          {"regression", trend.regression()},
                          {"remarks", trend.remarks},
                          {"runs", json_list(history.runs, run_json)},
                          {"series", json_list(trend.series, [&](const SeriesTrend& it) { return series_json(history, it); })}});
}

}  // namespace normtune
