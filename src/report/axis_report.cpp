#include "report/axis_report.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json_document.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

constexpr int axis_schema_version = 1;

}  // namespace

std::vector<Section> axis_sections(std::span<const AxisEffect> effects) {
    std::vector<Section> out;
    for (const AxisEffect& effect : effects) {
        const std::string device = effects.size() > 1 ? fmt::format(" on {}", effect.device.name) : "";
        Section section{
            fmt::format("Values of {}{}", effect.axis, device),
            Table("provider|op and mode|>" + effect.axis + "|>problems|>best on|>mean loss|>worst|on"),
            "The best measured candidate with the value against the provider's best on the same problem, an estimate; ±: half of its 95% "
            "interval, in percentage points. mean: geometric.\n"};
        for (const AxisValueEffect& one : effect.values) {
            section.table.add({one.provider, fmt::format("{} {}", one.op, one.mode), one.value, fmt::format("{}", one.places),
                               fmt::format("{}", one.best_on), mean_text(one), worst_text(one), one.worst > 0 ? *one.worst_on : ""});
        }
        out.push_back(std::move(section));
    }
    return out;
}

std::string axis_json(std::span<const AxisEffect> effects) {
    return json_document(axis_schema_version,
                         {{"devices", json_list(effects, [](const AxisEffect& effect) {
                               return nlohmann::json{
                                   {"device", to_json(effect.device)},
                                   {"axis", effect.axis},
                                   {"values", json_list(effect.values, [](const AxisValueEffect& one) {
                                        return nlohmann::json{
                                            {"provider", one.provider},
                                            {"op", one.op},
                                            {"mode", one.mode},
                                            {"value", one.value},
                                            {"problems", one.places},
                                            {"best_on", one.best_on},
                                            {"mean_loss", one.mean},
                                            {"mean_half_width", json_if(std::isfinite(one.mean_half_width()), one.mean_half_width())},
                                            {"worst_loss", one.worst},
                                            {"worst_problem", *one.worst_on}};
                                    })}};
                           })}});
}

}  // namespace normtune
