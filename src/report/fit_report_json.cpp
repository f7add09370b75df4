#include <algorithm>
#include <cmath>

#include "report/fit_report.h"
#include "report/json_document.h"
#include "report/traffic_report.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr int fit_schema_version = 1;

json axes_json(const std::vector<Axis>& axes) {
    return json_list(axes, [](Axis axis) { return axis_names.name(axis); });
}

json axis_json(Axis axis, int value) {
    return domain(axis).is_number(value) ? json(value) : json(axis_text(axis, value));
}

json prescription_json(const Prescription& prescription, const std::vector<Axis>& decided) {
    json axes = json::object();
    for (const Axis axis : decided) {
        axes[std::string(axis_names.name(axis))] = axis_json(axis, axis_value(prescription.configuration, axis));
    }
    return {{"text", prescription.text(decided)}, {"axes", std::move(axes)}, {"even_where_it_divides", prescription.even_where_it_divides}};
}

json ladder_json(const Fit& fit) {
    if (!fit.ladder) {
        return nullptr;
    }
    const auto step_json = [&](const Ladder::Step& step) {
        json out = prescription_json(fit.fitted.prescriptions[step.prescription], fit.fitted.decided);
        out["rows_to"] = step.rows_to;
        return out;
    };
    return {{"steps", fit.ladder->steps()}, {"bands", json_list(fit.ladder->bands, [&](const Ladder::Band& band) {
                                                 return json{{"cols_to", band.cols_to}, {"steps", json_list(band.steps, step_json)}};
                                             })}};
}

json summary_json(const ShapeSummary& summary) {
    const bool judged = summary.judged > 0;
    return {{"shapes", summary.places},
            {"judged", summary.judged},
            {"mean_loss", json_if(judged, summary.mean)},
            {"mean_half_width", json_if(judged && std::isfinite(summary.mean_half_width()), summary.mean_half_width())},
            {"worst_loss", json_if(judged, summary.worst)}};
}

json set_json(const Fit& fit, const Losses& losses, const ShapeSummary& summary) {
    json out = summary_json(summary);
    out["by_shape"] = json_list(losses.shapes, [&](const ShapeLosses& shape) {
        json one{{"rows", shape.rows}, {"cols", shape.cols}, {"loss", nullptr},
                 {"high", nullptr},    {"dropped", false},   {"prescription", nullptr}};
        for (const ProblemRanking* ranking : shape.rankings) {
            if (const Standing* const standing = chosen_on(fit, *ranking); standing != nullptr && std::isfinite(standing->high)) {
                one["high"] = std::max(one["high"].is_null() ? -1.0 : one["high"].get<double>(), standing->high - 1);
                one["dropped"] = one["dropped"].get<bool>() || standing->dropped;
            }
        }
        if (fit.ladder) {
            const std::size_t prescription = fit.ladder->prescription(shape.rows, shape.cols);
            one["prescription"] = fit.fitted.prescriptions[prescription].text(fit.fitted.decided);
            one["loss"] = json_if(shape.losses[prescription] != not_measured, shape.losses[prescription]);
        }
        return one;
    });
    return out;
}

json rival_json(const Rival& rival) {
    json same_axes = summary_json(rival.same_axes);
    same_axes["steps"] = json_if(rival.ladder_steps.has_value(), rival.ladder_steps.value_or(0));
    return {{"name", rival.name},
            {"decides", axes_json(rival.decides)},
            {"obeyed", rival.obeyed},
            {"rule", summary_json(rival.rule)},
            {"same_axes_ladder", std::move(same_axes)},
            {"ladder", summary_json(rival.ladder)}};
}

json to_json(const Fit& fit) {
    json out{{"operation", fit.operation},
             {"op", op_names.name(fit.problem.op)},
             {"mode", mode_names.name(fit.problem.mode)},
             {"dtype", dtype_names.name(fit.problem.dtype)},
             {"casting", casting_names.name(fit.problem.casting)},
             {"device", to_json(fit.device)},
             {"tolerance", fit.tolerance},
             {"within", fit.within},
             {"restriction",
              {{"batch_invariant", fit.restriction.batch_invariant},
               {"deterministic", fit.restriction.deterministic},
               {"compared", fit.compared},
               {"differ_at", fit.differ_at}}},
             {"decides", axes_json(fit.fitted.decided)},
             {"ladder", ladder_json(fit)},
             {"fitted", set_json(fit, fit.fitted, fit.on_fitted)},
             {"held_out", set_json(fit, fit.held_out, fit.on_held_out)},
             {"rivals", json_list(fit.rivals, rival_json)},
             {"steps_at", json_list(fit.steps_at, [](const StepsAt& at) {
                  return json{{"tolerance", at.tolerance}, {"steps", json_if(at.steps.has_value(), at.steps.value_or(0))}};
              })}};
    if (fit.traffic) {
        out["traffic"] = traffic_json(*fit.traffic);
    }
    return out;
}

}  // namespace

std::string fit_json(std::span<const Fit> fits) {
    return json_document(fit_schema_version, {{"fits", json_list(fits, [](const Fit& fit) { return to_json(fit); })}});
}

}  // namespace normtune
