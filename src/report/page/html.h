// Parts of a page: its frame, tables, and plots with their numbers. Text is escaped here; whoever calls gives it as it is.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/page/plot.h"
#include "support/text_sink.h"

namespace normtune {

struct PageSection {
    std::string id;
    std::string title;
    std::function<void(TextSink&)> write;  // what stands below the title
};

/// The whole page. It holds its styles and its script, and its policy allows these alone and nothing from elsewhere.
void write_page(TextSink& out, std::string_view title, const std::vector<PageSection>& sections);

void write_paragraph(TextSink& out, std::string_view text, std::string_view css_class = "");
/// A few figures in large type, each with what it is.
void write_cards(TextSink& out, const std::vector<std::pair<std::string, std::string>>& cards);
/// The first cell of each line is its heading.
void write_table(TextSink& out, std::string_view caption, const Numbers& numbers);
/// A list of facts: name and value.
void write_facts(TextSink& out, std::string_view caption, const std::vector<std::pair<std::string, std::string>>& facts);

/// Legend, and the panels with their numbers folded below them. `next_id` counts the figures of a page.
void write_plot(TextSink& out, const Plot& plot, int& next_id);
/// One panel at a time, chosen from a list by its title, with its numbers open.
void write_choice_of_panels(TextSink& out, const Plot& plot, std::string_view label, int& next_id);

}  // namespace normtune
