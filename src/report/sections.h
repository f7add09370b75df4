// A report of several tables: as plain text, markdown, CSV and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/loss_summary.h"
#include "judge/problem_ranking.h"
#include "report/table.h"

namespace normtune {

struct Section {
    std::string title;  // may be empty
    Table table;        // left out where it is empty
    std::string note;   // below the table: paragraphs, each ended by a newline; text, as the title is
};

enum class ReportFormat { table, markdown, csv, json };

/// In markdown titles are headings of the third level. CSV has the tables alone, an empty line between two of them. JSON:
/// schemas/tables.schema.json, cells as they are printed.
std::string sections_text(const std::vector<Section>& sections, ReportFormat format, const Style& style);

struct TableOrder {
    std::string column;              // a heading; empty: rows stay as they are
    std::optional<bool> descending;  // else numbers are, and words are not
    std::size_t most = 0;            // rows of a table; 0: all
};

/// Of each table that has the column. Throws InputError: none has it, and which there are.
void arrange(std::vector<Section>& sections, const TableOrder& order);

/// Throws InputError: the column is none of these headings.
void require_column(const std::string& column, const std::vector<std::string>& headings);

/// "1.3%"; "0" where there is none.
std::string loss_text(double loss);
/// "1.03x", over a copy's time; "-" where no copy was measured (0).
std::string limit_text(double limit_ratio);
/// "1.3% ±0.4", with half of the interval in percentage points; "±?" where it is not known.
std::string loss_text(const TimeRatio& time);
std::string loss_text(const LossEstimate& loss);
/// "41/42", "0.4% ±0.1" and "1.9% ±0.3"; "-" where nothing was judged.
template <typename Place>
std::string judged_text(const LossSummary<Place>& losses) {
    return std::to_string(losses.judged) + "/" + std::to_string(losses.places);
}
template <typename Place>
std::string mean_text(const LossSummary<Place>& losses) {
    return losses.judged == 0 ? "-" : loss_text(LossEstimate{losses.mean, losses.mean_half_width()});
}
template <typename Place>
std::string worst_text(const LossSummary<Place>& losses) {
    return losses.judged == 0 ? "-" : loss_text(LossEstimate{losses.worst, losses.worst_half_width});
}

}  // namespace normtune
