// A report of several tables, as plain text and as markdown.
#pragma once

#include <string>
#include <vector>

#include "judge/loss_summary.h"
#include "judge/problem_ranking.h"
#include "report/table.h"

namespace normtune {

struct Section {
    std::string title;
    Table table;       // left out where it is empty
    std::string note;  // below the table: lines, each ended by a newline; text, as the title is
};

/// In markdown titles are headings of the third level.
std::string sections_text(const std::vector<Section>& sections, bool markdown, const Style& style);

/// "1.3%"; "0" where there is none.
std::string loss_text(double loss);
/// "1.3% ±0.4", with half of the interval in percentage points; "±?" where it is not known.
std::string loss_text(const Standing& standing);
/// "41/42", "0.4%" and "1.9%"; "-" where nothing was judged.
template <typename Place>
std::string judged_text(const LossSummary<Place>& losses) {
    return std::to_string(losses.judged) + "/" + std::to_string(losses.places);
}
template <typename Place>
std::string mean_text(const LossSummary<Place>& losses) {
    return losses.judged == 0 ? "-" : loss_text(losses.mean);
}
template <typename Place>
std::string worst_text(const LossSummary<Place>& losses) {
    return losses.judged == 0 ? "-" : loss_text(losses.worst);
}

}  // namespace normtune
