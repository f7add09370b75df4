#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "judge/gate.h"
#include "report/comparison_report.h"
#include "report/json_document.h"
#include "support/csv.h"
#include "support/escape.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr int comparison_schema_version = 1;

json number(double value) {
    return json_if(std::isfinite(value), value);
}

/// The configuration's key; empty where there is no row.
std::string_view key_of(const ResultRows& rows, const ResultRow* row) {
    return row == nullptr ? std::string_view() : rows.text(row->configuration);
}

json side_json(const ResultRows& side) {
    const auto origin_json = [&](const RowOrigin& origin) {
        return json{{"device", side.text(origin.device)},
                    {"driver", side.text(origin.driver)},
                    {"timer", side.text(origin.timer)},
                    {"cold", json_if(origin.cold != RowOrigin::Cold::unknown, origin.cold == RowOrigin::Cold::cold)}};
    };
    return {{"file", side.name},
            {"format", result_format_names.name(side.format)},
            {"rows", side.rows.size()},
            {"stored_problems", side.stored.problems},
            {"origins", json_list(side.origins, origin_json)}};
}

json pair_json(const Comparison& comparison, const Pair& pair) {
    const auto text = [&](TextId RowProblem::*member) { return comparison.text(pair, member); };
    const ResultRow* const before = comparison.baseline_row(pair);
    const ResultRow* const after = comparison.candidate_row(pair);
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
            {"baseline_configuration", json_if(before != nullptr, key_of(*comparison.baseline, before))},
            {"candidate_configuration", json_if(after != nullptr, key_of(*comparison.candidate, after))},
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
    return json_list(pairs, [&](const Pair* pair) {
        return json{{"problem", comparison.text(*pair, &RowProblem::key)},
                    {"configuration", comparison.configuration(*pair)},
                    {"ratio", number(pair->ratio)}};
    });
}

json gate_json(const GateVerdict& verdict) {
    const auto case_json = [](const GateCase& it) {
        const Metric metric = it.comparison->settings.metric;
        return json{{"metric", metric_names.name(metric)},
                    {"problem", it.comparison->text(*it.pair, &RowProblem::key)},
                    {"configuration", it.comparison->configuration(*it.pair)},
                    {"verdict", verdict_word(it.verdict, metric)},
                    {"before", number(it.pair->before)},
                    {"after", number(it.pair->after)},
                    {"ratio", number(it.pair->ratio)},
                    {"threshold", it.threshold},
                    {"result", gate_result_names.name(it.result)},
                    {"known", it.known},
                    {"reason", it.reason}};
    };
    return {{"policy", verdict.policy},
            {"result", gate_result_names.name(verdict.result)},
            {"remarks", verdict.remarks},
            {"cases", json_list(verdict.cases, case_json)}};
}

}  // namespace

void write_comparison_json(TextSink& out, const Comparison& comparison, const Summary& summary, const GateVerdict* gate) {
    const CompareSettings& settings = comparison.settings;
    json counts = json::object();
    for (std::size_t i = 0; i < verdict_names.names.size(); ++i) {
        counts[std::string(verdict_word(static_cast<Verdict>(i), settings.metric))] = summary.counts[i];
    }
    const auto group_json = [](const RatioGroup& group) {
        return json{{"by", group.by},         {"name", group.name},     {"pairs", group.pairs},
                    {"slower", group.slower}, {"faster", group.faster}, {"geometric_mean", number(group.geometric_mean)}};
    };
    const RunToRun& noise = comparison.run_to_run;
    const Control& control = comparison.control;
    const auto runs = [&](double change) {
        const int count = settings.metric == Metric::latency ? comparison.runs_to_find(change) : 0;
        return json_if(count > 0, count);
    };
    json members{{"baseline", side_json(*comparison.baseline)},
                 {"candidate", side_json(*comparison.candidate)},
                 {"settings",
                  {{"by", match_by_names.name(settings.by)},
                   {"metric", metric_names.name(settings.metric)},
                   {"unit", settings.metric == Metric::latency ? "us" : "MiB"},
                   {"threshold", settings.threshold},
                   {"margin", settings.margin},
                   {"false_discoveries", settings.false_discoveries},
                   {"across", json_list(settings.across, [](Facet facet) { return facet_names.name(facet); })}}},
                 {"run_to_run",
                  {{"deviation", noise.deviation},
                   {"copies", noise.copies},
                   {"copy_ratio", noise.copy_ratio},
                   {"copy_deviation", noise.copy_deviation},
                   {"spread", noise.spread}}},
                 {"floor_us", {{"before", number(comparison.floors.before_us)}, {"after", number(comparison.floors.after_us)}}},
                 {"control",
                  {{"pairs", control.pairs},
                   {"shift", json_if(control.known(), control.shift)},
                   {"shift_us", json_if(control.known(), control.shift_us)},
                   {"deviation", json_if(control.known(), control.deviation)},
                   {"deviation_us", json_if(control.known(), control.deviation_us)}}},
                 {"processes", {{"before", comparison.processes[0]}, {"after", comparison.processes[1]}}},
                 {"runs_to_find", {{"1%", runs(0.01)}, {"2%", runs(0.02)}}},
                 {"coverage", comparison.coverage},
                 {"dropped", comparison.dropped},
                 {"failed_both", comparison.failed_both},
                 {"counts", std::move(counts)},
                 {"groups", json_list(summary.groups, group_json)},
                 {"worst", extremes_json(comparison, summary.worst)},
                 {"best", extremes_json(comparison, summary.best)},
                 {"pairs", json::array()}};
    if (comparison.side_by_side) {
        members["failed"] = json_list(comparison.failed_pairs, [&](const Pair& pair) {
            return json{{"problem", comparison.text(pair, &RowProblem::key)},
                        {"configuration", comparison.configuration(pair)},
                        {"note", comparison.note(pair)}};
        });
    }
    if (gate != nullptr) {
        members["gate"] = gate_json(*gate);
    }
    write_json_document(
        out, comparison_schema_version, std::move(members), "pairs", comparison.pairs.size(),
        [&](std::size_t i, std::string_view margin) { write_json(out, pair_json(comparison, comparison.pairs[i]), margin); });
}

void write_comparison_csv(TextSink& out, const Comparison& comparison) {
    out += fmt::format(
        "verdict,op,mode,dtype,casting,model,site,rows,cols,problem,baseline_config,candidate_config,"
        "before_{0},after_{0},ratio,ratio_low,ratio_high,p,evidence,note\r\n",
        comparison.settings.metric == Metric::latency ? "us" : "mib");
    const auto line = [&](std::string_view verdict, const Pair& pair) {
        const auto text = [&](TextId RowProblem::*member) { return std::string(comparison.text(pair, member)); };
        const auto size = [&](std::int64_t RowProblem::*member) {
            const std::int64_t value = comparison.problem(pair).*member;
            return value > 0 ? std::to_string(value) : std::string();
        };
        const auto number = [&](double Pair::*member) { return csv_number(pair.*member, 6); };
        const bool tested = pair.evidence != Evidence::none && pair.evidence != Evidence::exact;
        std::vector<std::string> cells{std::string(verdict),
                                       text(&RowProblem::op),
                                       text(&RowProblem::mode),
                                       text(&RowProblem::dtype),
                                       text(&RowProblem::casting),
                                       text(&RowProblem::model),
                                       text(&RowProblem::site),
                                       size(&RowProblem::rows),
                                       size(&RowProblem::cols),
                                       text(&RowProblem::key),
                                       std::string(key_of(*comparison.baseline, comparison.baseline_row(pair))),
                                       std::string(key_of(*comparison.candidate, comparison.candidate_row(pair))),
                                       number(&Pair::before),
                                       number(&Pair::after),
                                       number(&Pair::ratio),
                                       number(&Pair::low),
                                       number(&Pair::high),
                                       tested ? fmt::format("{:.3g}", pair.p) : std::string(),
                                       std::string(evidence_names.name(pair.evidence)),
                                       comparison.note(pair)};
        // People and a CI's runner see it too.
        std::transform(cells.begin(), cells.end(), cells.begin(),
                       [](const std::string& cell) { return report_for_terminal(for_terminal(cell)); });
        out += csv_line(cells);
    };
    for (const Pair& pair : comparison.pairs) {
        line(verdict_word(pair.verdict, comparison.settings.metric), pair);
    }
    for (const Pair& pair : comparison.failed_pairs) {
        line("failed", pair);
    }
}

}  // namespace normtune
