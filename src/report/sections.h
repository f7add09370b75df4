// A report of several tables, as plain text and as markdown.
#pragma once

#include <string>
#include <vector>

#include "report/table.h"

namespace normtune {

struct Section {
    std::string title;
    Table table;       // left out where it is empty
    std::string note;  // below the table: lines, each ended by a newline; text, as the title is
};

std::string sections_text(const std::vector<Section>& sections, const Style& style);
/// Titles are headings of the third level.
std::string sections_markdown(const std::vector<Section>& sections);

/// "1.3%"; "0" where there is none.
std::string loss_text(double loss);

}  // namespace normtune
