#include "store/row_records.h"

#include <cmath>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune {
namespace {

std::vector<std::string> split(std::string_view joined) {
    std::vector<std::string> out;
    while (true) {
        const std::size_t end = joined.find(';');
        out.emplace_back(joined.substr(0, end));
        if (end == std::string_view::npos) {
            return out;
        }
        joined.remove_prefix(end + 1);
    }
}

/// Every model with every site: a CSV joins each by itself.
std::vector<Use> uses_of(const ResultRows& rows, const RowProblem& problem) {
    std::vector<Use> uses;
    for (const std::string& model : split(rows.text(problem.model))) {
        for (const std::string& site : split(rows.text(problem.site))) {
            uses.push_back({model, site, 0});
        }
    }
    return uses;
}

Record record_of(const ResultRows& rows, const ResultRow& row) {
    const RowProblem& problem = rows.problem_of(row);
    Record record;
    record.device = rows.text(rows.origin_of(row).device);
    record.arch = rows.text(rows.origin_of(row).arch);
    record.problem = parse_problem_key(rows.text(problem.key));
    record.problem.uses = uses_of(rows, problem);
    record.candidate = Candidate::parse(rows.text(row.configuration));
    record.outcome = row.outcome;
    record.reason = rows.text(row.reason);
    if (!std::isnan(row.p50_us)) {
        record.measurement.emplace();
        record.measurement->p50_us = row.p50_us;
        record.measurement->p20_us = std::isnan(row.p20_us) ? row.p50_us : row.p20_us;
        record.measurement->p80_us = std::isnan(row.p80_us) ? row.p50_us : row.p80_us;
        record.measurement->rank = row.rank;
        record.measurement->tied = row.tied;
    }
    return record;
}

}  // namespace

Results records_of(const ResultRows& rows) {
    if (rows.format != ResultFormat::results_csv) {
        throw InputError(fmt::format("{}: is {}; a results.json or results.csv of normtune is needed", rows.name,
                                     result_format_names.name(rows.format)));
    }
    Results results;
    for (const ResultRow& row : rows.rows) {
        try {
            results.records.push_back(record_of(rows, row));
        } catch (const InputError& error) {
            throw InputError(rows.name, static_cast<int>(row.line), error.what());
        }
        if (results.records.back().device != results.records.front().device) {
            throw InputError(
                rows.name, static_cast<int>(row.line),
                fmt::format("is of another device, {}, than the rows before it, {}; give a file a device",
                            quoted_for_message(results.records.back().device), quoted_for_message(results.records.front().device)));
        }
    }
    if (!rows.rows.empty()) {
        results.environment.device.name = results.records.front().device;
        results.environment.device.arch = results.records.front().arch;
        results.environment.device.driver = rows.text(rows.origin_of(rows.rows.front()).driver);
    }
    return results;
}

}  // namespace normtune
