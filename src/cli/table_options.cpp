#include "cli/table_options.h"

#include <fmt/format.h>

#include "cli/output.h"

namespace normtune::cli {

void TableOptions::declare(OptionSet& options, const std::vector<std::string>& more, std::string_view help) {
    std::vector<std::string> formats{"table", "markdown", "csv", "json"};
    formats.insert(formats.end(), more.begin(), more.end());
    options.group("Output");
    options.one("--format", word_of(formats, format_), fmt::format("{}{}(default: table)", help, help.empty() ? "" : "\n"));
    options.one("--sort",
                {"COLUMN",
                 {},
                 Completion::none,
                 [this](const std::string& word) {
                     const bool down = word.ends_with(":down");
                     order_.column = down || word.ends_with(":up") ? word.substr(0, word.rfind(':')) : word;
                     order_.descending = down || order_.column != word ? std::optional(down) : std::nullopt;
                 }},
                "Rows of tables by this column: numbers from the largest, words from A; COLUMN:up and COLUMN:down say which");
    options.one("--top", whole_number(1, 1'000'000'000, top_), "Only so many rows of each table");
    options.one("--color", word_of({"auto", "always", "never"}, color_), "auto: on a terminal, unless NO_COLOR is set (default: auto)");
}

void TableOptions::require_no_order() const {
    if (orders()) {
        throw InputError(fmt::format("--sort and --top arrange printed tables; --format {} has everything: leave them out", format_));
    }
}

void TableOptions::require_order(const std::vector<std::string>& headings) const {
    if (is("json")) {
        require_no_order();
    } else if (!order_.column.empty()) {
        require_column(order_.column, headings);
    }
}

Style TableOptions::style() const {
    Style style = style_of(stdout);
    style.color = color_ == "auto" ? style.color : color_ == "always";
    return style;
}

std::string TableOptions::text(std::vector<Section> sections) const {
    if (is("json")) {
        require_no_order();
        return sections_text(sections, ReportFormat::json, {});
    }
    TableOrder order = order_;
    order.most = static_cast<std::size_t>(top_);
    arrange(sections, order);
    return sections_text(sections, is("csv") ? ReportFormat::csv : is("markdown") ? ReportFormat::markdown : ReportFormat::table, style());
}

void TableOptions::show(std::vector<Section> sections) const {
    const std::string report = text(std::move(sections));
    is("table") ? print(report) : print_data(report);
}

void TableOptions::show_measured(const std::vector<Section>& sections) const {
    try {
        show(sections);
    } catch (const InputError&) {
        TableOptions as_they_are = *this;
        as_they_are.order_ = {};
        as_they_are.show(sections);
        throw;
    }
}

}  // namespace normtune::cli
