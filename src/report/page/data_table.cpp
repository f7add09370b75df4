#include "report/page/data_table.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/escape.h"
#include "support/names.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr NameTable<DataColumn::Kind, 4> kind_names{{"name", "text", "number", "detail"}};

std::string script_text(const json& value) {
    return for_html_script(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

std::size_t DataNames::number(const std::string& text) {
    const auto [place, fresh] = numbers_.try_emplace(text, all_.size());
    if (fresh) {
        all_.push_back(text);
    }
    return place->second;
}

json data_number(double value) {
    return std::isfinite(value) ? json(std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr)) : json();
}

void write_data_table(TextSink& out, std::string_view caption, const std::vector<DataColumn>& columns, std::string_view sorted_by,
                      const std::vector<DataNames>& names, std::size_t rows, const std::function<json(std::size_t)>& row) {
    json head = json::array();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const DataColumn& column = columns[i];
        json one{{"id", column.id}, {"label", column.label}, {"kind", kind_names.name(column.kind)}, {"help", column.help}};
        if (column.kind == DataColumn::Kind::name || column.kind == DataColumn::Kind::detail) {
            one["names"] = names[i].all();
        }
        head.push_back(std::move(one));
    }
    out += fmt::format(
        "<div id=\"data-table\" data-caption=\"{}\"><noscript><p>The table needs JavaScript; results.csv has the same rows.</p>"
        "</noscript></div>\n<script type=\"application/json\" id=\"data\">{{\"sort\":{},\"columns\":{},\"rows\":[",
        for_html(caption), script_text(sorted_by), script_text(head));
    for (std::size_t i = 0; i < rows; ++i) {
        out += i == 0 ? "\n" : ",\n";
        out += script_text(row(i));
    }
    out += "]}</script>\n";
}

}  // namespace normtune
