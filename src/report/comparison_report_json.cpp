#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/comparison_report.h"
#include "support/csv.h"
#include "support/version.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr int comparison_schema_version = 1;

json number(double value) {
    return std::isfinite(value) ? json(value) : json();
}

json side_json(const ResultRows& side) {
    json devices = json::array();
    for (const RowOrigin& origin : side.origins) {
        const json entry{{"device", side.text(origin.device)},
                         {"driver", side.text(origin.driver)},
                         {"timer", side.text(origin.timer)},
                         {"cold", origin.cold == RowOrigin::Cold::unknown ? json() : json(origin.cold == RowOrigin::Cold::cold)}};
        devices.push_back(entry);
    }
    return {{"file", side.name},
            {"format", result_format_names.name(side.format)},
            {"rows", side.rows.size()},
            {"stored_problems", side.stored.problems},
            {"origins", std::move(devices)}};
}

json pair_json(const Comparison& comparison, const Pair& pair) {
    const auto text = [&](TextId RowProblem::*member) { return comparison.text(pair, member); };
    const ResultRow* const before = comparison.baseline_row(pair);
    const ResultRow* const after = comparison.candidate_row(pair);
    const auto key = [](const ResultRows& rows, const ResultRow* row) {
        return row == nullptr ? json() : json(rows.text(row->configuration));
    };
    const auto rounds = [&](const ResultRow* row) {
        return row == nullptr                            ? 0
               : pair.evidence == Evidence::rounds       ? int{row->rounds}
               : pair.evidence == Evidence::fresh_rounds ? int{row->finals}
                                                         : 0;
    };
    const RowProblem& problem = comparison.problem(pair);
    return {{"verdict", verdict_word(pair.verdict, comparison.settings.metric)},
            {"problem", text(&RowProblem::key)},
            {"op", text(&RowProblem::op)},
            {"mode", text(&RowProblem::mode)},
            {"dtype", text(&RowProblem::dtype)},
            {"casting", text(&RowProblem::casting)},
            {"model", text(&RowProblem::model)},
            {"site", text(&RowProblem::site)},
            {"rows", problem.rows},
            {"cols", problem.cols},
            {"baseline_configuration", key(*comparison.baseline, before)},
            {"candidate_configuration", key(*comparison.candidate, after)},
            {"before", number(pair.before)},
            {"after", number(pair.after)},
            {"ratio", number(pair.ratio)},
            {"low", number(pair.low)},
            {"high", number(pair.high)},
            {"p", number(pair.p)},
            {"evidence", evidence_names.name(pair.evidence)},
            {"baseline_rounds", rounds(before)},
            {"candidate_rounds", rounds(after)},
            {"note", comparison.note(pair)}};
}

json extremes_json(const Comparison& comparison, const std::vector<const Pair*>& pairs) {
    json out = json::array();
    for (const Pair* pair : pairs) {
        out.push_back({{"problem", comparison.text(*pair, &RowProblem::key)},
                       {"configuration", comparison.configuration(*pair)},
                       {"ratio", number(pair->ratio)}});
    }
    return out;
}

}  // namespace

json to_json(const Comparison& comparison, const Summary& summary) {
    const CompareSettings& settings = comparison.settings;
    json across = json::array();
    for (const Facet facet : settings.across) {
        across.push_back(facet_names.name(facet));
    }
    json counts = json::object();
    for (std::size_t i = 0; i < verdict_names.names.size(); ++i) {
        counts[std::string(verdict_word(static_cast<Verdict>(i), settings.metric))] = summary.counts[i];
    }
    json groups = json::array();
    for (const RatioGroup& group : summary.groups) {
        groups.push_back({{"by", group.by},
                          {"name", group.name},
                          {"pairs", group.pairs},
                          {"slower", group.slower},
                          {"faster", group.faster},
                          {"geometric_mean", number(group.geometric_mean)}});
    }
    json pairs = json::array();
    for (const Pair& pair : comparison.pairs) {
        pairs.push_back(pair_json(comparison, pair));
    }
    const RunToRun& noise = comparison.run_to_run;
    return {{"schema_version", comparison_schema_version},
            {"normtune_version", version()},
            {"baseline", side_json(*comparison.baseline)},
            {"candidate", side_json(*comparison.candidate)},
            {"settings",
             {{"by", match_by_names.name(settings.by)},
              {"metric", metric_names.name(settings.metric)},
              {"unit", settings.metric == Metric::latency ? "us" : "MiB"},
              {"threshold", settings.threshold},
              {"margin", settings.margin},
              {"false_discoveries", settings.false_discoveries},
              {"across", std::move(across)}}},
            {"run_to_run",
             {{"deviation", noise.deviation},
              {"copies", noise.copies},
              {"copy_ratio", noise.copy_ratio},
              {"copy_deviation", noise.copy_deviation},
              {"spread", noise.spread}}},
            {"coverage", comparison.coverage},
            {"dropped", comparison.dropped},
            {"failed_both", comparison.failed_both},
            {"counts", std::move(counts)},
            {"groups", std::move(groups)},
            {"worst", extremes_json(comparison, summary.worst)},
            {"best", extremes_json(comparison, summary.best)},
            {"pairs", std::move(pairs)}};
}

std::string comparison_json(const Comparison& comparison, const Summary& summary) {
    return to_json(comparison, summary).dump(2) + "\n";
}

std::string comparison_csv(const Comparison& comparison) {
    const bool latency = comparison.settings.metric == Metric::latency;
    const std::string_view unit = latency ? "us" : "mib";
    std::string out = csv_line({"verdict",
                                "op",
                                "mode",
                                "dtype",
                                "casting",
                                "model",
                                "site",
                                "rows",
                                "cols",
                                "problem",
                                "baseline_config",
                                "candidate_config",
                                fmt::format("before_{}", unit),
                                fmt::format("after_{}", unit),
                                "ratio",
                                "ratio_low",
                                "ratio_high",
                                "p",
                                "evidence",
                                "note"});
    constexpr int value_decimals = 6;
    for (const Pair& pair : comparison.pairs) {
        const auto text = [&](TextId RowProblem::*member) { return std::string(comparison.text(pair, member)); };
        const ResultRow* const before = comparison.baseline_row(pair);
        const ResultRow* const after = comparison.candidate_row(pair);
        const RowProblem& problem = comparison.problem(pair);
        const auto size = [](std::int64_t value) { return value > 0 ? std::to_string(value) : std::string(); };
        const auto key = [](const ResultRows& rows, const ResultRow* row) {
            return row == nullptr ? std::string() : std::string(rows.text(row->configuration));
        };
        out +=
            csv_line({std::string(verdict_word(pair.verdict, comparison.settings.metric)),
                      text(&RowProblem::op),
                      text(&RowProblem::mode),
                      text(&RowProblem::dtype),
                      text(&RowProblem::casting),
                      text(&RowProblem::model),
                      text(&RowProblem::site),
                      size(problem.rows),
                      size(problem.cols),
                      text(&RowProblem::key),
                      key(*comparison.baseline, before),
                      key(*comparison.candidate, after),
                      csv_number(pair.before, value_decimals),
                      csv_number(pair.after, value_decimals),
                      csv_number(pair.ratio, value_decimals),
                      csv_number(pair.low, value_decimals),
                      csv_number(pair.high, value_decimals),
                      pair.evidence == Evidence::none || pair.evidence == Evidence::exact ? std::string() : fmt::format("{:.3g}", pair.p),
                      std::string(evidence_names.name(pair.evidence)),
                      comparison.note(pair)});
    }
    return out;
}

}  // namespace normtune
