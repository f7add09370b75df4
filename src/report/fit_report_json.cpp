#include <nlohmann/json.hpp>

#include "report/fit_report.h"
#include "support/version.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr int fit_schema_version = 1;

json axes_json(const std::vector<Axis>& axes) {
    json out = json::array();
    for (const Axis axis : axes) {
        out.push_back(axis_names.name(axis));
    }
    return out;
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
    json bands = json::array();
    for (const Ladder::Band& band : fit.ladder->bands) {
        json steps = json::array();
        for (const Ladder::Step& step : band.steps) {
            json one = prescription_json(fit.fitted.prescriptions[step.prescription], fit.fitted.decided);
            one["rows_to"] = step.rows_to;
            steps.push_back(std::move(one));
        }
        bands.push_back({{"cols_to", band.cols_to}, {"steps", std::move(steps)}});
    }
    return {{"steps", fit.ladder->steps()}, {"bands", std::move(bands)}};
}

json summary_json(const LossSummary& summary) {
    const bool judged = summary.judged > 0;
    return {{"shapes", summary.shapes},
            {"judged", summary.judged},
            {"mean_loss", judged ? json(summary.mean) : json()},
            {"worst_loss", judged ? json(summary.worst) : json()}};
}

json shapes_json(const Fit& fit, const Losses& losses) {
    json out = json::array();
    for (const ShapeLosses& shape : losses.shapes) {
        json one{{"rows", shape.rows}, {"cols", shape.cols}, {"loss", nullptr}, {"prescription", nullptr}};
        if (fit.ladder) {
            const std::size_t prescription = fit.ladder->prescription(shape.rows, shape.cols);
            one["prescription"] = fit.fitted.prescriptions[prescription].text(fit.fitted.decided);
            if (const double loss = shape.losses[prescription]; loss != not_measured) {
                one["loss"] = loss;
            }
        }
        out.push_back(std::move(one));
    }
    return out;
}

json set_json(const Fit& fit, const Losses& losses, const LossSummary& summary) {
    json out = summary_json(summary);
    out["by_shape"] = shapes_json(fit, losses);
    return out;
}

json rival_json(const Rival& rival) {
    json same_axes = summary_json(rival.same_axes);
    same_axes["steps"] = rival.ladder_steps ? json(*rival.ladder_steps) : json();
    return {{"name", rival.name},
            {"decides", axes_json(rival.decides)},
            {"obeyed", rival.obeyed},
            {"rule", summary_json(rival.rule)},
            {"same_axes_ladder", std::move(same_axes)},
            {"ladder", summary_json(rival.ladder)}};
}

json to_json(const Fit& fit) {
    json rivals = json::array();
    for (const Rival& rival : fit.rivals) {
        rivals.push_back(rival_json(rival));
    }
    json steps_at = json::array();
    for (const StepsAt& at : fit.steps_at) {
        steps_at.push_back({{"tolerance", at.tolerance}, {"steps", at.steps ? json(*at.steps) : json()}});
    }
    return {{"operation", fit.operation},
            {"op", op_names.name(fit.problem.op)},
            {"mode", mode_names.name(fit.problem.mode)},
            {"dtype", dtype_names.name(fit.problem.dtype)},
            {"casting", casting_names.name(fit.problem.casting)},
            {"device", to_json(fit.device)},
            {"tolerance", fit.tolerance},
            {"within", fit.within},
            {"decides", axes_json(fit.fitted.decided)},
            {"ladder", ladder_json(fit)},
            {"fitted", set_json(fit, fit.fitted, fit.on_fitted)},
            {"held_out", set_json(fit, fit.held_out, fit.on_held_out)},
            {"rivals", std::move(rivals)},
            {"steps_at", std::move(steps_at)}};
}

}  // namespace

std::string fit_json(std::span<const Fit> fits) {
    json list = json::array();
    for (const Fit& fit : fits) {
        list.push_back(to_json(fit));
    }
    const json document{{"schema_version", fit_schema_version}, {"normtune_version", version()}, {"fits", std::move(list)}};
    return document.dump(2) + "\n";
}

}  // namespace normtune
