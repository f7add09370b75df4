#include "report/sections.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/json_document.h"
#include "support/error.h"
#include "support/escape.h"

namespace normtune {

namespace {

constexpr int tables_schema_version = 1;

std::string bold_lines(const std::string& title, const Style& style) {
    std::string out;
    for (const std::string& line : style.width > 0 ? wrapped(title, style.width) : std::vector{title}) {
        out += style.bold(line) + "\n";
    }
    return out;
}

std::string as_text(const std::vector<Section>& sections, const Style& style) {
    std::string out;
    for (const auto& [title, table, note] : sections) {
        out += out.empty() ? "" : "\n";
        out += title.empty() ? "" : bold_lines(for_terminal(title), style);
        out += table.empty() ? "" : table.text(style);
        out += prose(note, style);
    }
    return out;
}

std::string as_markdown(const std::vector<Section>& sections) {
    std::string out;
    for (const auto& [title, table, note] : sections) {
        out += out.empty() ? "" : "\n";
        out += title.empty() ? "" : fmt::format("### {}\n\n", for_markdown(title));
        out += table.empty() ? "" : table.markdown();
        out += !table.empty() && !note.empty() ? "\n" : "";
        for (std::string_view rest = note; !rest.empty(); rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1)) {
            out += for_markdown(rest.substr(0, rest.find('\n'))) + "\n";
        }
    }
    return out;
}

std::string as_csv(const std::vector<Section>& sections) {
    std::string out;
    for (const Section& section : sections) {
        if (!section.table.empty()) {
            out += out.empty() ? "" : "\r\n";
            out += section.table.csv();
        }
    }
    return out;
}

std::string as_json(const std::vector<Section>& sections) {
    return json_document(tables_schema_version, {{"tables", json_list(sections, [](const Section& section) {
                                                      nlohmann::json rows(section.table.lines());
                                                      rows.erase(0);
                                                      return nlohmann::json{{"title", section.title},
                                                                            {"columns", section.table.headings()},
                                                                            {"rows", std::move(rows)},
                                                                            {"note", section.note}};
                                                  })}});
}

}  // namespace

std::string sections_text(const std::vector<Section>& sections, ReportFormat format, const Style& style) {
    switch (format) {
        case ReportFormat::table:
            return as_text(sections, style);
        case ReportFormat::markdown:
            return as_markdown(sections);
        case ReportFormat::csv:
            return as_csv(sections);
        case ReportFormat::json:
            return as_json(sections);
    }
    return {};
}

void arrange(std::vector<Section>& sections, const TableOrder& order) {
    bool sorted = order.column.empty();
    std::vector<std::string> columns;
    for (Section& section : sections) {
        if (section.table.empty()) {
            continue;
        }
        if (!order.column.empty()) {
            sorted |= section.table.sort(order.column, order.descending.value_or(section.table.is_number(order.column)));
        }
        for (const std::string& heading : section.table.headings()) {
            if (!heading.empty() && std::find(columns.begin(), columns.end(), heading) == columns.end()) {
                columns.push_back(heading);
            }
        }
        if (const std::size_t left_out = order.most == 0 ? 0 : section.table.keep(order.most); left_out > 0) {
            section.note = fmt::format("… and {} more.\n", grouped(left_out)) + section.note;
        }
    }
    if (!sorted && !columns.empty()) {
        require_column(order.column, columns);
    }
}

void require_column(const std::string& column, const std::vector<std::string>& headings) {
    if (std::find(headings.begin(), headings.end(), column) != headings.end()) {
        return;
    }
    std::vector<std::string> each_once;
    for (const std::string& heading : headings) {
        const std::string shown = heading.find(',') == std::string::npos ? heading : quoted_for_message(heading);
        if (std::find(each_once.begin(), each_once.end(), shown) == each_once.end()) {
            each_once.push_back(shown);
        }
    }
    throw InputError(
        fmt::format("--sort: no table has a column {}; there are: {}", quoted_for_message(column), fmt::join(each_once, ", ")));
}

std::string limit_text(double limit_ratio) {
    return limit_ratio > 0 ? fmt::format("{:.2f}x", limit_ratio) : "-";
}

std::string loss_text(double loss) {
    const double percent = loss * 100;
    return loss == 0 ? "0" : fmt::format("{:.1f}%", std::abs(percent) < 0.05 ? 0.0 : percent);
}

std::string loss_text(const TimeRatio& time) {
    return loss_text(time.estimate());
}

std::string loss_text(const LossEstimate& loss) {
    if (loss.half_width == 0) {
        return loss_text(loss.loss);
    }
    constexpr double says_nothing = 10;  // ten times the time, either way
    const double percent = loss.half_width * 100;
    return loss_text(loss.loss) + (loss.half_width < says_nothing ? fmt::format(" ±{:.{}f}", percent, percent < 0.05 ? 2 : 1) : " ±?");
}

}  // namespace normtune
