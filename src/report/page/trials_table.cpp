#include "report/page/trials_table.h"

#include <unordered_map>

#include <nlohmann/json.hpp>

#include "report/page/data_table.h"
#include "report/page/html.h"
#include "report/page/pages.h"

namespace normtune {
namespace {

using nlohmann::json;
using Kind = DataColumn::Kind;

const std::vector<DataColumn>& trial_columns() {
    static const std::vector<DataColumn> columns{
        {"problem", "problem", Kind::name},
        {"p50_us", "p50 µs", Kind::number},
        {"p20_us", "p20 µs", Kind::number},
        {"p80_us", "p80 µs", Kind::number},
        {"gbps", "GB/s", Kind::number, "least bytes over p50"},
        {"limit_ratio", "over copy", Kind::number, "p50 over that of the copy in the same rounds"},
        {"over_best", "over best", Kind::number, "time over the winner's: of fresh rounds where both have them, else of p50"},
        {"rank", "rank", Kind::number, "1: the winner; empty: no finalist"},
        {"tied", "tied", Kind::name, "cannot be told from the winner"},
        {"outcome", "outcome", Kind::name},
        {"provider", "provider", Kind::name},
        {"candidate", "candidate", Kind::text},
        {"rounds", "rounds", Kind::number},
        {"stop_reason", "stopped by", Kind::name},
        {"registers", "registers", Kind::number},
        {"spill_bytes", "spill B", Kind::number},
        {"shared_bytes", "shared B", Kind::number},
        {"occupancy", "occupancy", Kind::number},
        {"floor_us", "floor µs", Kind::number, "an empty launch in the same rounds"},
        {"clock_mhz", "clock MHz", Kind::number},
        {"reason", "reason", Kind::detail},
        {"repeat", "repeat it with", Kind::detail},
    };
    return columns;
}

template <typename T>
json number_if(const std::optional<T>& value) {
    return value ? data_number(static_cast<double>(*value)) : json();
}

/// In the order of the columns; texts of names and details are numbered.
class TrialRow {
public:
    explicit TrialRow(std::vector<DataNames>& names) : names_(names) {}
    void name(const std::string& text) { cells_.push_back(names_[cells_.size()].number(text)); }
    void add(json value) { cells_.push_back(std::move(value)); }
    json take() { return std::move(cells_); }

private:
    std::vector<DataNames>& names_;
    json cells_ = json::array();
};

json row_of(const Record& record, const Standing* standing, std::vector<DataNames>& names) {
    TrialRow row(names);
    row.name(record.problem.key());
    const Measurement* m = record.measurement ? &*record.measurement : nullptr;
    const auto measured = [&](double value) { row.add(m == nullptr ? json() : data_number(value)); };
    measured(m == nullptr ? 0 : m->p50_us);
    measured(m == nullptr ? 0 : m->p20_us);
    measured(m == nullptr ? 0 : m->p80_us);
    measured(m == nullptr ? 0 : m->gbps);
    row.add(m == nullptr || m->limit_ratio <= 0 ? json() : data_number(m->limit_ratio));
    row.add(standing == nullptr ? json() : data_number(standing->ratio));
    row.add(m == nullptr || m->rank == 0 ? json() : json(m->rank));
    row.name(m == nullptr ? "" : m->rank == 1 ? "winner" : m->tied ? "tied" : "no");
    row.name(std::string(outcome_names.name(record.outcome)));
    row.name(std::string(record.candidate.provider()));
    row.add(record.candidate.identity());
    row.add(m == nullptr || m->rounds.empty() ? json() : json(m->rounds.size()));
    row.name(m == nullptr ? "" : std::string(stop_reason_names.name(m->stop_reason)));
    const CompileInfo compile = record.compile.value_or(CompileInfo{});
    row.add(number_if(compile.registers));
    row.add(number_if(compile.spill_bytes));
    row.add(number_if(compile.shared_bytes));
    row.add(number_if(compile.occupancy));
    row.add(m == nullptr || m->floor_us <= 0 ? json() : data_number(m->floor_us));
    row.add(m == nullptr ? json() : number_if(m->clock_mhz));
    row.name(record.reason);
    row.name(record.repeat);
    return row.take();
}

void replace(std::string& text, const std::string& what, char with) {
    if (const std::size_t at = text.find(what); !what.empty() && at != std::string::npos) {
        text.replace(at, what.size(), 1, with);
    }
}

}  // namespace

void keep_for_page(Record& record) {
    record.verification.reset();
    replace(record.repeat, record.problem.key(), '\1');
    replace(record.repeat, record.candidate.identity(), '\2');
    record.repeat.shrink_to_fit();
}

void write_trials(TextSink& out, const RunView& run) {
    std::unordered_map<const Record*, const Standing*> standings;
    for (const ProblemRanking& ranking : run.rankings) {
        for (const Standing& standing : ranking.standings) {
            standings.emplace(standing.record, &standing);
        }
    }
    const auto row = [&](std::size_t i, std::vector<DataNames>& names) {
        const Record& record = run.results.records[i];
        const auto found = standings.find(&record);
        return row_of(record, found == standings.end() ? nullptr : found->second, names);
    };
    std::vector<DataNames> names(trial_columns().size());
    for (std::size_t i = 0; i < run.results.records.size(); ++i) {  // names stand before the rows that speak of them
        row(i, names);
    }
    write_paragraph(
        out,
        "Every trial, by its own rounds. A row's button shows why it failed and the command line that runs it again. Find takes "
        "words, and conditions on columns such as p50_us<10 or limit_ratio>=1.1.",
        "caption");
    write_data_table(out, "Trials", trial_columns(), "p50_us", names, run.results.records.size(),
                     [&](std::size_t i) { return row(i, names); });
}

}  // namespace normtune
